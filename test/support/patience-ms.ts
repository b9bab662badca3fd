/** How long a test waits for anything at most: far longer than it takes, even on a busy machine. */
export const PATIENCE_MS = 30_000;
