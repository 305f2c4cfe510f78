/* Bundle adjustment: errors and the 2 by 15 block of each observation, by the chain rule written out. */

#include <math.h>
#include <stdint.h>

static void cross_matrix(const double *v, double m[3][3]) {
    m[0][0] = 0.0, m[0][1] = -v[2], m[0][2] = v[1];
    m[1][0] = v[2], m[1][1] = 0.0, m[1][2] = -v[0];
    m[2][0] = -v[1], m[2][1] = v[0], m[2][2] = 0.0;
}

/* y = x turned about r; by_x and by_r are its derivatives. */
static void rotate(const double *r, const double *x, double *y, double by_x[3][3], double by_r[3][3]) {
    double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2], crossed[3][3];
    cross_matrix(x, crossed);
    if (square == 0.0) {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) by_x[i][j] = i == j, by_r[i][j] = -crossed[i][j];
        for (int i = 0; i < 3; i++) y[i] = x[i];
        return;
    }
    double angle = sqrt(square), c = cos(angle), s = sin(angle), inverse = 1.0 / angle;
    double axis[3] = {r[0] * inverse, r[1] * inverse, r[2] * inverse}, turn[3][3];
    double along = axis[0] * x[0] + axis[1] * x[1] + axis[2] * x[2];
    cross_matrix(axis, turn);
    for (int i = 0; i < 3; i++) {
        double by_axis[3], by_angle, product, turned = 0.0;
        for (int j = 0; j < 3; j++) {
            by_x[i][j] = s * turn[i][j] + (1.0 - c) * axis[i] * axis[j] + (i == j ? c : 0.0);
            by_axis[j] = -s * crossed[i][j] + (1.0 - c) * (axis[i] * x[j] + (i == j ? along : 0.0));
            turned += turn[i][j] * x[j];
        }
        y[i] = c * x[i] + s * turned + (1.0 - c) * axis[i] * along;
        by_angle = -s * x[i] + c * turned + s * axis[i] * along;
        product = by_axis[0] * axis[0] + by_axis[1] * axis[1] + by_axis[2] * axis[2];
        for (int j = 0; j < 3; j++) by_r[i][j] = by_angle * axis[j] + (by_axis[j] - product * axis[j]) * inverse;
    }
}

double ba(long n, const double *cameras, const double *points, const double *weights, const double *features,
          const int64_t *camera_of, const int64_t *point_of, double *restrict errors, double *restrict jacobian) {
    for (long i = 0; i < n; i++) {
        const double *camera = cameras + 11 * camera_of[i], *point = points + 3 * point_of[i];
        double x[3], y[3], by_x[3][3], by_r[3][3], *row = jacobian + 30 * i, weight = weights[i];
        for (int c = 0; c < 3; c++) x[c] = point[c] - camera[3 + c];
        rotate(camera, x, y, by_x, by_r);
        double focal = camera[6], inverse = 1.0 / y[2], flat[2] = {y[0] * inverse, y[1] * inverse};
        double square = flat[0] * flat[0] + flat[1] * flat[1];
        double distortion = 1.0 + camera[9] * square + camera[10] * square * square;
        double slope = 2.0 * (camera[9] + 2.0 * camera[10] * square);
        for (int k = 0; k < 2; k++, row += 15) {
            double by_flat[2], by_y[3], missed = flat[k] * distortion * focal + camera[7 + k] - features[2 * i + k];
            for (int l = 0; l < 2; l++)
                by_flat[l] = weight * focal * (slope * flat[k] * flat[l] + (k == l ? distortion : 0.0));
            by_y[0] = by_flat[0] * inverse, by_y[1] = by_flat[1] * inverse;
            by_y[2] = -(by_flat[0] * flat[0] + by_flat[1] * flat[1]) * inverse;
            for (int c = 0; c < 3; c++) {
                row[c] = by_y[0] * by_r[0][c] + by_y[1] * by_r[1][c] + by_y[2] * by_r[2][c];
                row[11 + c] = by_y[0] * by_x[0][c] + by_y[1] * by_x[1][c] + by_y[2] * by_x[2][c];
                row[3 + c] = -row[11 + c];
            }
            row[6] = weight * flat[k] * distortion;
            row[7] = k == 0 ? weight : 0.0;
            row[8] = k == 1 ? weight : 0.0;
            row[9] = weight * focal * flat[k] * square;
            row[10] = row[9] * square;
            row[14] = missed;
            errors[2 * i + k] = weight * missed;
        }
    }
    return 0.0;
}
