/* Least squares of a polynomial. Points are taken in blocks; both passes over the coefficients run along the points of a block. */

#define BLOCK 64

double llsq(long n, long m, const double *x, double *x_bar) {
    double total = 0.0;
    for (long first = 0; first < n; first += BLOCK) {
        double t[BLOCK] = {0.0}, error[BLOCK] = {0.0}, power[BLOCK];
        long size = n - first < BLOCK ? n - first : BLOCK;
        for (long b = 0; b < size; b++) {
            t[b] = -1.0 + 2.0 * (first + b) / (n - 1.0);
            error[b] = (t[b] > 0.0) - (t[b] < 0.0);
        }
        for (int b = 0; b < BLOCK; b++) power[b] = b < size ? 1.0 : 0.0;
        for (long j = 0; j < m; j++)
            for (int b = 0; b < BLOCK; b++) {
                error[b] -= x[j] * power[b];
                power[b] *= t[b];
            }
        for (int b = 0; b < BLOCK; b++) total += error[b] * error[b];
        for (long j = 0; j < m; j++) {
            double sum = 0.0;
            for (int b = 0; b < BLOCK; b++) {
                sum += error[b];
                error[b] *= t[b]; /* error times t^j */
            }
            x_bar[j] -= sum;
        }
    }
    return 0.5 * total;
}
