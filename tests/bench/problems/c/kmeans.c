/* k-means: cost, gradient and the Hessian's diagonal. Distances are computed for a block of points at a time, a coordinate after
   the other, so that the innermost loops run over points. */

#include <stdlib.h>

#define BLOCK 32

double kmeans(long n, long k, long d, const double *centroids, const double *points, double *gradient, double *diagonal) {
    double *x = calloc(d * BLOCK, sizeof(double));
    double cost = 0.0;
    for (long first = 0; first < n; first += BLOCK) {
        double least[BLOCK], nearest[BLOCK] = {0.0};
        long size = n - first < BLOCK ? n - first : BLOCK;
        for (long b = 0; b < size; b++)
            for (long c = 0; c < d; c++) x[c * BLOCK + b] = points[(first + b) * d + c];
        for (int b = 0; b < BLOCK; b++) least[b] = 1e300;
        for (long j = 0; j < k; j++) {
            double distance[BLOCK] = {0.0};
            for (long c = 0; c < d; c++)
                for (int b = 0; b < BLOCK; b++) {
                    double offset = x[c * BLOCK + b] - centroids[j * d + c];
                    distance[b] += offset * offset;
                }
            for (int b = 0; b < BLOCK; b++) {
                nearest[b] = distance[b] < least[b] ? (double)j : nearest[b];
                least[b] = distance[b] < least[b] ? distance[b] : least[b];
            }
        }
        for (long b = 0; b < size; b++) {
            long j = (long)nearest[b];
            cost += least[b];
            for (long c = 0; c < d; c++) {
                gradient[j * d + c] += 2.0 * (centroids[j * d + c] - points[(first + b) * d + c]);
                diagonal[j * d + c] += 2.0;
            }
        }
    }
    free(x);
    return cost;
}
