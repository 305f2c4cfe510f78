/* Gaussian mixture: likelihood and prior without their constant, and the adjoint.

   Points are taken in blocks, a coordinate after the other, so that the innermost loops run over the points of a block. The first pass
   leaves the terms of all components, which the second turns into responsibilities; Q (x - mu) is computed in both. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 32

static void unpack(long d, const double *factors, double *q) {
    const double *below = factors + d;
    memset(q, 0, sizeof(double) * d * d);
    for (long c = 0; c < d; c++) {
        q[c * d + c] = exp(factors[c]);
        for (long r = c + 1; r < d; r++) q[r * d + c] = *below++;
    }
}

static void shifted(long d, const double *columns, const double *mean, double *restrict x) {
    for (long c = 0; c < d; c++)
        for (int b = 0; b < BLOCK; b++) x[c * BLOCK + b] = columns[c * BLOCK + b] - mean[c];
}

static void product_row(long r, const double *q, const double *x, double *restrict z) {
    double sum[BLOCK] = {0.0};
    for (long c = 0; c <= r; c++)
        for (int b = 0; b < BLOCK; b++) sum[b] += q[c] * x[c * BLOCK + b];
    memcpy(z, sum, sizeof sum);
}

double gmm(long n, long k, long d, const double *alphas, const double *means, const double *factors, const double *points,
           double gamma, long m, double *alphas_bar, double *means_bar, double *factors_bar, double *terms) {
    long blocks = (n + BLOCK - 1) / BLOCK, packed = d + d * (d - 1) / 2;
    double *columns = calloc(blocks * d * BLOCK, sizeof(double));
    double *x = malloc(sizeof(double) * d * BLOCK), *z = malloc(sizeof(double) * d * BLOCK);
    double *q = malloc(sizeof(double) * d * d), *q_bar = malloc(sizeof(double) * d * d);
    double value = 0.0;

    for (long i = 0; i < n; i++)
        for (long c = 0; c < d; c++) columns[(i / BLOCK * d + c) * BLOCK + i % BLOCK] = points[i * d + c];

    for (long j = 0; j < k; j++) {
        double log_determinant = 0.0, squares = 0.0;
        unpack(d, factors + j * packed, q);
        for (long c = 0; c < d; c++) log_determinant += factors[j * packed + c];
        for (long c = 0; c < d * d; c++) squares += q[c] * q[c];
        value += 0.5 * gamma * gamma * squares - m * log_determinant;
        for (long block = 0; block < blocks; block++) {
            double norm[BLOCK] = {0.0};
            long size = n - block * BLOCK < BLOCK ? n - block * BLOCK : BLOCK;
            shifted(d, columns + block * d * BLOCK, means + j * d, x);
            for (long r = 0; r < d; r++) {
                product_row(r, q + r * d, x, z);
                for (int b = 0; b < BLOCK; b++) norm[b] += z[b] * z[b];
            }
            for (long b = 0; b < size; b++) terms[j * n + block * BLOCK + b] = alphas[j] + log_determinant - 0.5 * norm[b];
        }
    }

    double *top = malloc(sizeof(double) * n), *total = calloc(n, sizeof(double));
    for (long i = 0; i < n; i++) top[i] = terms[i];
    for (long j = 1; j < k; j++)
        for (long i = 0; i < n; i++) top[i] = top[i] > terms[j * n + i] ? top[i] : terms[j * n + i];
    for (long j = 0; j < k; j++)
        for (long i = 0; i < n; i++) total[i] += terms[j * n + i] = exp(terms[j * n + i] - top[i]);
    for (long i = 0; i < n; i++) value += top[i] + log(total[i]);
    for (long i = 0; i < n; i++) total[i] = 1.0 / total[i];
    for (long j = 0; j < k; j++)
        for (long i = 0; i < n; i++) terms[j * n + i] *= total[i];

    double high = alphas[0], sum = 0.0;
    for (long j = 1; j < k; j++) high = high > alphas[j] ? high : alphas[j];
    for (long j = 0; j < k; j++) sum += exp(alphas[j] - high);
    value -= n * (high + log(sum));

    for (long j = 0; j < k; j++) {
        double responsible = 0.0, *bar = factors_bar + j * packed, *below = bar + d;
        for (long i = 0; i < n; i++) responsible += terms[j * n + i];
        alphas_bar[j] = responsible - n * exp(alphas[j] - high) / sum;
        unpack(d, factors + j * packed, q);
        memset(q_bar, 0, sizeof(double) * d * d);
        for (long block = 0; block < blocks; block++) {
            double weight[BLOCK] = {0.0};
            long size = n - block * BLOCK < BLOCK ? n - block * BLOCK : BLOCK;
            memcpy(weight, terms + j * n + block * BLOCK, sizeof(double) * size);
            shifted(d, columns + block * d * BLOCK, means + j * d, x);
            for (long r = 0; r < d; r++) {
                product_row(r, q + r * d, x, z + r * BLOCK);
                for (int b = 0; b < BLOCK; b++) z[r * BLOCK + b] *= weight[b];
                for (long c = 0; c <= r; c++) {
                    double dot = 0.0;
                    for (int b = 0; b < BLOCK; b++) dot += z[r * BLOCK + b] * x[c * BLOCK + b];
                    q_bar[r * d + c] -= dot;
                }
            }
            for (long r = 0; r < d; r++) {  /* the mean's adjoint is Q^T of the sum of z over the points */
                double row = 0.0;
                for (int b = 0; b < BLOCK; b++) row += z[r * BLOCK + b];
                for (long c = 0; c <= r; c++) means_bar[j * d + c] += q[r * d + c] * row;
            }
        }
        for (long c = 0; c < d; c++) {
            double diagonal = q[c * d + c];
            bar[c] = responsible + diagonal * (q_bar[c * d + c] + gamma * gamma * diagonal) - m;
            for (long r = c + 1; r < d; r++) *below++ = q_bar[r * d + c] + gamma * gamma * q[r * d + c];
        }
    }
    free(columns), free(x), free(z), free(q), free(q_bar), free(top), free(total);
    return value;
}
