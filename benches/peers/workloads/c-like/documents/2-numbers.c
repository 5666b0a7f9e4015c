double pi = 3.14159265358979;
int primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29,};
float identity[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

long gcd(long a, long b) {
    while (b != 0) {
        long rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

void multiply(float a[3][3], float b[3][3], float c[3][3]) {
    int i, j, k;
    for (i = 0; i < 3; ++i) {
        for (j = 0; j < 3; ++j) {
            float sum = 0.0;
            for (k = 0; k < 3; ++k) sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    }
}

double root(double x) {
    double guess = x / 2.0;
    do {
        guess = (guess + x / guess) / 2.0;
    } while (guess * guess - x > 1.0e-9 || x - guess * guess > 1.0e-9);
    return guess;
}

int is_prime(int n) {
    if (n < 2) return 0;
    if (n % 2 == 0) return n == 2;
    for (int d = 3; d * d <= n; d += 2) {
        if (n % d == 0) return 0;
    }
    return 1;
}
