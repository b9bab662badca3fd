/**
 * Keys that name the prototype of an object: `__proto__`, and `constructor` with a `prototype` in it. `metadata` is handed to
 * back ends, in webhooks too, and their JSON parsers refuse a whole body for such a key (Fastify's does) or lose it.
 */

export const PROTOTYPE_KEYS_REFUSED = 'no key __proto__, and no constructor with a prototype';

/** @param value JSON of bounded depth */
export function hasPrototypeKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return namesPrototype(value) || Object.values(value).some(hasPrototypeKey);
}

function namesPrototype(value: object): boolean {
  if (Object.hasOwn(value, '__proto__')) return true;
  if (!Object.hasOwn(value, 'constructor')) return false;
  const inner: unknown = Reflect.get(value, 'constructor');
  return typeof inner === 'object' && inner !== null && Object.hasOwn(inner, 'prototype');
}
