/* Runge-Kutta of order 4. The state of each step is kept; the reverse sweep computes the stages of a step again. */

#include <stdlib.h>
#include <string.h>

#define END 2.0

static void slope(long n, const double *x, const double *y, double *restrict k) {
    k[0] = x[0];
    for (long j = 1; j < n; j++) k[j] = x[j] * y[j - 1];
}

static void moved(long n, const double *y, double a, const double *k, double *restrict z) {
    for (long j = 0; j < n; j++) z[j] = y[j] + a * k[j];
}

/* k_bar is what k = slope(x, y) receives: adds to x_bar, writes y_bar. */
static void slope_bar(long n, const double *x, const double *y, const double *k_bar, double *restrict x_bar,
                      double *restrict y_bar) {
    x_bar[0] += k_bar[0];
    for (long j = 1; j < n; j++) x_bar[j] += k_bar[j] * y[j - 1];
    for (long j = 0; j < n - 1; j++) y_bar[j] = k_bar[j + 1] * x[j + 1];
    y_bar[n - 1] = 0.0;
}

double ode(long n, long steps, const double *x, double *x_bar) {
    double h = END / steps, value;
    double *states = malloc(sizeof(double) * n * (steps + 1));
    double *room = calloc(10 * n, sizeof(double));
    double *k1 = room, *k2 = k1 + n, *k3 = k2 + n, *k4 = k3 + n, *y2 = k4 + n, *y3 = y2 + n, *y4 = y3 + n;
    double *y_bar = y4 + n, *k_bar = y_bar + n, *z_bar = k_bar + n;

    memset(states, 0, sizeof(double) * n);
    for (long s = 0; s < steps; s++) {
        double *y = states + s * n, *next = y + n;
        slope(n, x, y, k1), moved(n, y, 0.5 * h, k1, y2);
        slope(n, x, y2, k2), moved(n, y, 0.5 * h, k2, y3);
        slope(n, x, y3, k3), moved(n, y, h, k3, y4);
        slope(n, x, y4, k4);
        for (long j = 0; j < n; j++) next[j] = y[j] + h / 6.0 * (k1[j] + 2.0 * k2[j] + 2.0 * k3[j] + k4[j]);
    }
    value = states[steps * n + n - 1];

    y_bar[n - 1] = 1.0;
    for (long s = steps - 1; s >= 0; s--) {
        const double *y = states + s * n;
        double a = h / 6.0;
        double *bar1 = k4; /* what the state receives in all */
        slope(n, x, y, k1), moved(n, y, 0.5 * h, k1, y2);
        slope(n, x, y2, k2), moved(n, y, 0.5 * h, k2, y3);
        slope(n, x, y3, k3), moved(n, y, h, k3, y4);
        for (long j = 0; j < n; j++) bar1[j] = y_bar[j], k_bar[j] = a * y_bar[j];
        slope_bar(n, x, y4, k_bar, x_bar, z_bar);
        for (long j = 0; j < n; j++) bar1[j] += z_bar[j], k_bar[j] = 2.0 * a * y_bar[j] + h * z_bar[j];
        slope_bar(n, x, y3, k_bar, x_bar, z_bar);
        for (long j = 0; j < n; j++) bar1[j] += z_bar[j], k_bar[j] = 2.0 * a * y_bar[j] + 0.5 * h * z_bar[j];
        slope_bar(n, x, y2, k_bar, x_bar, z_bar);
        for (long j = 0; j < n; j++) bar1[j] += z_bar[j], k_bar[j] = a * y_bar[j] + 0.5 * h * z_bar[j];
        slope_bar(n, x, y, k_bar, x_bar, z_bar);
        for (long j = 0; j < n; j++) y_bar[j] = bar1[j] + z_bar[j];
    }
    free(states), free(room);
    return value;
}
