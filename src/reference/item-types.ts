/** What a number can be given to. */

export interface ItemType {
  /** Names the key in Redis: `<site>:ref:<number>`. */
  readonly number: number;
  /** Begins every reference of the type, and names its seed in the ledger: two types may never share one. */
  readonly prefix: string;
  /** Digits that a sequence is padded to; it grows beyond them. */
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
/** Letters only: the year that follows is digits, so no reference can be read in two ways. */
const PREFIX = /^[A-Z]{2,8}$/;
const MAX_NUMBER = 9999;
const MAX_WIDTH = 15;

/** An item type that nobody has configured, or one that cannot be. */
export class ItemTypeError extends Error {
  override readonly name = 'ItemTypeError';
}

/**
 * The built-in types and one's own.
 *
 * @throws ItemTypeError when one is malformed, or claims the name, number or prefix of another: their references would meet.
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
 * Item types as an option spells them: `invoice=5:INV:8`.
 *
 * @throws ItemTypeError
 */
export function readItemTypes(entries: readonly string[]): ItemTypes {
  const own: Record<string, ItemType> = {};
  for (const entry of entries) {
    const [, name, number, prefix, width] = /^([^=]+)=(\d+):([^:]+):(\d+)$/.exec(entry) ?? [];
    if (name === undefined || prefix === undefined) {
      throw new ItemTypeError(`the item type ${JSON.stringify(entry)} must be such as invoice=5:INV:8`);
    }
    if (Object.hasOwn(own, name)) throw new ItemTypeError(`the item type ${JSON.stringify(name)} is there twice`);
    own[name] = { number: Number(number), prefix, width: Number(width) };
  }
  itemTypesWith(own);
  return own;
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

const isWhole = (value: number, least: number, most: number): boolean =>
  Number.isInteger(value) && value >= least && value <= most;

function clashOf(name: string, { number, prefix }: ItemType, types: ItemTypes): string | undefined {
  if (Object.hasOwn(types, name)) return 'exists already';
  for (const [other, taken] of Object.entries(types)) {
    if (taken.number === number) return `has the number ${number}, which is that of ${other}`;
    if (taken.prefix === prefix) return `has the prefix ${prefix}, which is that of ${other}`;
  }
  return undefined;
}
