/** Item types: what references are issued for. */

export interface ItemType {
  /** Number in the Redis key `<prefix>:ref:<number>`. */
  readonly number: number;
  /** Prefix of the references, and key of their seed in the ledger: two types must not share one. */
  readonly prefix: string;
  /** Minimum number of digits of a sequence; shorter ones are padded with zeros. */
  readonly width: number;
}

export type ItemTypes = Readonly<Record<string, ItemType>>;

export const ITEM_TYPES = {
  order: { number: 1, prefix: 'ORD', width: 8 },
  user: { number: 2, prefix: 'USR', width: 8 },
  product: { number: 3, prefix: 'PRO', width: 8 },
  room: { number: 4, prefix: 'ROM', width: 8 },
} as const satisfies ItemTypes;

const NAME = /^[a-z][a-z0-9_-]{0,31}$/;
/** Letters only: a year in digits follows, so every reference can be parsed in one way only. */
const PREFIX = /^[A-Z]{2,8}$/;
const MAX_NUMBER = 9999;
const MAX_WIDTH = 15;

/** An item type that is not configured, or is malformed. */
export class ItemTypeError extends Error {
  override readonly name = 'ItemTypeError';
}

/**
 * The built-in item types and custom ones.
 *
 * @throws ItemTypeError when one is malformed, or has the name, number or prefix of another: their references would collide.
 */
export function itemTypesWith(own: ItemTypes = {}): ItemTypes {
  const types: Record<string, ItemType> = { ...ITEM_TYPES };
  for (const [name, type] of Object.entries(own)) {
    const fault = faultOf(name, type) ?? clashOf(name, type, types);
    if (fault !== undefined) throw new ItemTypeError(`the item type ${JSON.stringify(name)} ${fault}`);
    types[name] = type;
  }
  return types;
}

/**
 * Parses item types in the format of the option: `invoice=5:INV:8`.
 *
 * @throws ItemTypeError
 */
export function readItemTypes(entries: readonly string[]): ItemTypes {
  // A Map: in an object, `__proto__` would be no entry, and be ignored instead of refused.
  const own = new Map<string, ItemType>();
  for (const entry of entries) {
    const [, name, number, prefix, width] = /^([^=]+)=(\d+):([^:]+):(\d+)$/.exec(entry) ?? [];
    if (name === undefined || prefix === undefined) {
      throw new ItemTypeError(`the item type ${JSON.stringify(entry)} must be such as invoice=5:INV:8`);
    }
    if (own.has(name)) throw new ItemTypeError(`the item type ${JSON.stringify(name)} is there twice`);
    own.set(name, { number: Number(number), prefix, width: Number(width) });
  }
  const types = Object.fromEntries(own);
  itemTypesWith(types);
  return types;
}

/** @throws ItemTypeError */
export function itemTypeOf(types: ItemTypes, name: string): ItemType {
  const type = Object.hasOwn(types, name) ? types[name] : undefined;
  if (type !== undefined) return type;
  throw new ItemTypeError(`no item type ${JSON.stringify(name)}: there are ${Object.keys(types).join(', ')}`);
}

function faultOf(name: string, { number, prefix, width }: ItemType): string | undefined {
  if (!NAME.test(name)) return 'needs a name of up to 32 small letters, digits, - and _, beginning with a letter';
  if (!isWhole(number, 1, MAX_NUMBER)) return `needs a number from 1 to ${MAX_NUMBER}`;
  if (!PREFIX.test(prefix)) return 'needs a prefix of 2 to 8 capital letters';
  return isWhole(width, 1, MAX_WIDTH) ? undefined : `needs a width from 1 to ${MAX_WIDTH}`;
}

const isWhole = (value: number, min: number, max: number): boolean =>
  Number.isInteger(value) && value >= min && value <= max;

function clashOf(name: string, { number, prefix }: ItemType, types: ItemTypes): string | undefined {
  if (Object.hasOwn(types, name)) return 'exists already';
  for (const [other, taken] of Object.entries(types)) {
    if (taken.number === number) return `has the number ${number}, which is that of ${other}`;
    if (taken.prefix === prefix) return `has the prefix ${prefix}, which is that of ${other}`;
  }
  return undefined;
}
