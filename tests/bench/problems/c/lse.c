/* log sum exp x; its gradient is the softmax. The exponentials are kept where the gradient goes. */

#include <math.h>

double lse(long n, const double *restrict x, double *restrict x_bar) {
    double top = x[0], sum = 0.0;
    for (long i = 1; i < n; i++) top = top > x[i] ? top : x[i];
    for (long i = 0; i < n; i++) sum += x_bar[i] = exp(x[i] - top);
    double scale = 1.0 / sum;
    for (long i = 0; i < n; i++) x_bar[i] *= scale;
    return top + log(sum);
}
