struct node { int key; struct node *left; struct node *right; };

struct node *insert(struct node *root, int key) {
    if (!root) {
        struct node *fresh = (struct node *) malloc(sizeof(struct node));
        fresh->key = key;
        fresh->left = fresh->right = 0;
        return fresh;
    }
    if (key < root->key) root->left = insert(root->left, key);
    else if (key > root->key) root->right = insert(root->right, key);
    return root;
}

int height(struct node *root) {
    int left, right;
    if (root == 0) return 0;
    left = height(root->left);
    right = height(root->right);
    return 1 + (left > right ? left : right);
}

// Sorts by inserting; stable, quadratic, fine for a few.
void sort(int *numbers, int count) {
    for (int i = 1; i < count; i++) {
        int current = numbers[i], j = i - 1;
        while (j >= 0 && numbers[j] > current) {
            numbers[j + 1] = numbers[j];
            j--;
        }
        numbers[j + 1] = current;
    }
}

void swap(char *a, char *b) {
    if (a != b) {
        *a ^= *b;
        *b ^= *a;
        *a ^= *b;
    }
}

char *reverse(char *text) {
    int length = 0;
    while (text[length]) ++length;
    for (int i = 0, j = length - 1; i < j; i++, j--)
        swap(&text[i], text + j);
    return text;
}
