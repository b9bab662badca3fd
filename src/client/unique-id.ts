/** A random id of 96 bits. `crypto.randomUUID` would be shorter, but exists on https and localhost only. */
export const uniqueId = (): string => crypto.getRandomValues(new Uint32Array(3)).join('-');
