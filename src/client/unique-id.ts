/** Names that nobody else draws. `crypto.randomUUID` exists on https and localhost only. */
export const uniqueId = (): string => crypto.getRandomValues(new Uint32Array(3)).join('-');
