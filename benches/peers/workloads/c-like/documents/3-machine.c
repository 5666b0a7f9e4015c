// A small stack machine.
struct machine {
    long stack[256];
    int top;
    char *code;
    int at;
    int running;
};

void push(struct machine *m, long value) { m->stack[m->top++] = value; }
long pop(struct machine *m) { return m->stack[--m->top]; }

int step(struct machine *m) {
    long a, b;
    switch (m->code[m->at++]) {
        case 0x00:
            m->running = 0;
            break;
        case 0x01:
            push(m, m->code[m->at++]);
            break;
        case 0x02:
            b = pop(m), a = pop(m);
            push(m, a + b);
            break;
        case 0x03:
            b = pop(m);
            a = pop(m);
            push(m, a << (b & 63));
            break;
        case 0x04:
            if (pop(m) == 0)
                m->at = m->code[m->at];
            else
                m->at++;
            break;
        case 0x05: {
            long top = m->stack[m->top - 1];
            push(m, ~top ^ 0xff);
            break;
        }
        default:
            fprintf(stderr, "unknown code %d at %d\n", m->code[m->at - 1], m->at - 1);
            return 0;
    }
    return m->running && m->top >= 0 && m->top < 256;
}

int run(char *code) {
    struct machine m;
    m.code = code;
    m.at = m.top = 0;
    m.running = 1;
    while (step(&m)) continue;
    return m.top > 0 ? (int) m.stack[m.top - 1] : 0;
}
