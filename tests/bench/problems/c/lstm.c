/* LSTM with diagonal weights. Gates, changes and cells of all steps are kept; the rest follows from them. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is kept of a layer in a step: rows of b numbers. */
enum { FORGET, INGATE, OUTGATE, CHANGE, CELL, TANH, HIDDEN, ROWS };

static void gate(long b, const double *x, const double *weight, const double *bias, double *restrict out) {
    for (long c = 0; c < b; c++) out[c] = 1.0 / (1.0 + exp(-(x[c] * weight[c] + bias[c])));
}

static void forward(long b, const double *weight, const double *bias, const double *x, const double *hidden,
                    const double *cell, double *restrict kept) {
    gate(b, x, weight, bias, kept + FORGET * b);
    gate(b, hidden, weight + b, bias + b, kept + INGATE * b);
    gate(b, x, weight + 2 * b, bias + 2 * b, kept + OUTGATE * b);
    for (long c = 0; c < b; c++) kept[CHANGE * b + c] = tanh(hidden[c] * weight[3 * b + c] + bias[3 * b + c]);
    for (long c = 0; c < b; c++)
        kept[CELL * b + c] = cell[c] * kept[FORGET * b + c] + kept[INGATE * b + c] * kept[CHANGE * b + c];
    for (long c = 0; c < b; c++) kept[TANH * b + c] = tanh(kept[CELL * b + c]);
    for (long c = 0; c < b; c++) kept[HIDDEN * b + c] = kept[OUTGATE * b + c] * kept[TANH * b + c];
}

/* x_bar comes in as the adjoint of the layer's output and goes out as that of its input. */
static void reverse(long b, const double *weight, const double *x, const double *hidden, const double *cell,
                    const double *kept, double *restrict weight_bar, double *restrict bias_bar, double *restrict x_bar,
                    double *restrict hidden_bar, double *restrict cell_bar) {
    for (long c = 0; c < b; c++) {
        double forget = kept[FORGET * b + c], ingate = kept[INGATE * b + c], outgate = kept[OUTGATE * b + c];
        double change = kept[CHANGE * b + c], t = kept[TANH * b + c];
        double h_bar = hidden_bar[c] + x_bar[c];
        double c_bar = cell_bar[c] + h_bar * outgate * (1.0 - t * t);
        double forget_bar = c_bar * cell[c] * forget * (1.0 - forget);
        double ingate_bar = c_bar * change * ingate * (1.0 - ingate);
        double outgate_bar = h_bar * t * outgate * (1.0 - outgate);
        double change_bar = c_bar * ingate * (1.0 - change * change);
        bias_bar[c] += forget_bar, bias_bar[b + c] += ingate_bar;
        bias_bar[2 * b + c] += outgate_bar, bias_bar[3 * b + c] += change_bar;
        weight_bar[c] += forget_bar * x[c], weight_bar[b + c] += ingate_bar * hidden[c];
        weight_bar[2 * b + c] += outgate_bar * x[c], weight_bar[3 * b + c] += change_bar * hidden[c];
        cell_bar[c] = c_bar * forget;
        x_bar[c] = forget_bar * weight[c] + outgate_bar * weight[2 * b + c];
        hidden_bar[c] = ingate_bar * weight[b + c] + change_bar * weight[3 * b + c];
    }
}

double lstm(long layers, long count, long b, const double *main, const double *extra, const double *state,
            const double *sequence, double *main_bar, double *extra_bar) {
    long steps = count - 1, layer = ROWS * b;
    double *kept = malloc(sizeof(double) * steps * layers * layer);
    double *first = malloc(sizeof(double) * steps * b); /* inputs of the first layer */
    double *prediction_bar = malloc(sizeof(double) * steps * b);
    double *state_bar = calloc(2 * layers * b, sizeof(double)), *x_bar = malloc(sizeof(double) * b);
    double total = 0.0, scale = -1.0 / (double)(steps * b);

    for (long t = 0; t < steps; t++) {
        double *x = first + t * b, *bar = prediction_bar + t * b, sum = 0.0, ones = 0.0, lifted;
        const double *next = sequence + (t + 1) * b;
        for (long c = 0; c < b; c++) x[c] = sequence[t * b + c] * extra[c];
        for (long i = 0; i < layers; i++) {
            double *here = kept + (t * layers + i) * layer, *before = here - layers * layer;
            const double *hidden = t ? before + HIDDEN * b : state + 2 * i * b;
            const double *cell = t ? before + CELL * b : state + (2 * i + 1) * b;
            forward(b, main + 8 * i * b, main + (8 * i + 4) * b, x, hidden, cell, here);
            x = here + HIDDEN * b;
        }
        for (long c = 0; c < b; c++) {
            double prediction = x[c] * extra[b + c] + extra[2 * b + c];
            total += next[c] * prediction;
            ones += next[c];
            bar[c] = exp(prediction);
        }
        for (long c = 0; c < b; c++) sum += bar[c];
        lifted = sum + 2.0;
        total -= ones * log(lifted);
        for (long c = 0; c < b; c++) bar[c] = scale * (next[c] - ones * bar[c] / lifted);
    }

    for (long t = steps - 1; t >= 0; t--) {
        const double *last = kept + (t * layers + layers - 1) * layer + HIDDEN * b, *bar = prediction_bar + t * b;
        for (long c = 0; c < b; c++) {
            extra_bar[2 * b + c] += bar[c];
            extra_bar[b + c] += bar[c] * last[c];
            x_bar[c] = bar[c] * extra[b + c];
        }
        for (long i = layers - 1; i >= 0; i--) {
            const double *here = kept + (t * layers + i) * layer, *before = here - layers * layer;
            const double *x = i ? here - layer + HIDDEN * b : first + t * b;
            const double *hidden = t ? before + HIDDEN * b : state + 2 * i * b;
            const double *cell = t ? before + CELL * b : state + (2 * i + 1) * b;
            reverse(b, main + 8 * i * b, x, hidden, cell, here, main_bar + 8 * i * b, main_bar + (8 * i + 4) * b, x_bar,
                    state_bar + 2 * i * b, state_bar + (2 * i + 1) * b);
        }
        for (long c = 0; c < b; c++) extra_bar[c] += x_bar[c] * sequence[t * b + c];
    }
    free(kept), free(first), free(prediction_bar), free(state_bar), free(x_bar);
    return scale * total;
}
