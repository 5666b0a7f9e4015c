// Words of a text, counted in a table of lists.
struct entry {
    struct entry *next;
    char *word;
    int count;
};

struct entry *table[1024];

unsigned hash(char *word) {
    unsigned h = 2166136261u;
    for (char *p = word; *p; p++) {
        h ^= *p;
        h *= 16777619;
    }
    return h % 1024;
}

struct entry *find(char *word) {
    for (struct entry *e = table[hash(word)]; e != 0; e = e->next)
        if (strcmp(e->word, word) == 0)
            return e;
    return 0;
}

void add(char *word) {
    struct entry *e = find(word);
    if (e) {
        e->count++;
    } else {
        unsigned slot = hash(word);
        e = malloc(sizeof(struct entry));
        e->word = strdup(word);
        e->count = 1;
        e->next = table[slot];
        table[slot] = e;
    }
}

int main(int argc, char *argv[]) {
    char buffer[256];
    int length = 0, c;
    while ((c = getchar()) != -1) {
        if (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
            if (length < 255) buffer[length++] = c | 32;
        } else if (length > 0) {
            buffer[length] = '\0';
            add(buffer);
            length = 0;
        }
    }
    for (int i = 0; i < 1024; i += 1)
        for (struct entry *e = table[i]; e; e = e->next)
            printf("%7d %s\n", e->count, e->word);
    return 0;
}
