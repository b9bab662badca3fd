/** Text format of a reference: `<PREFIX><year><sequence>`, as in `ROM202600000042`. */
import type { ItemType, ItemTypes } from './item-types.ts';

export interface ParsedReference {
  /** The name of its item type. */
  readonly type: string;
  readonly year: number;
  readonly sequence: number;
}

/** A text that is no reference of the configured item types. */
export class ReferenceMalformed extends Error {
  override readonly name = 'ReferenceMalformed';
}

export function writeReference({ prefix, width }: ItemType, year: number, sequence: number): string {
  return `${prefix}${String(year).padStart(4, '0')}${String(sequence).padStart(width, '0')}`;
}

/** @throws ReferenceMalformed */
export function parseReference(types: ItemTypes, reference: string): ParsedReference {
  const [, prefix = '', digits = '', rest = ''] = /^([A-Z]{2,8})(\d{4})(\d+)$/.exec(reference) ?? [];
  const [name, type] = Object.entries(types).find(([, one]) => one.prefix === prefix) ?? [];
  if (name === undefined || type === undefined)
    throw new ReferenceMalformed('it begins with no prefix of an item type');
  const [year, sequence] = [Number(digits), Number(rest)];
  if (sequence < 1 || !Number.isSafeInteger(sequence)) throw new ReferenceMalformed('its sequence is out of range');
  // One spelling per number, so that references can be compared as text.
  if (writeReference(type, year, sequence) !== reference) {
    throw new ReferenceMalformed(`its sequence is not padded to ${type.width} digits`);
  }
  return { type: name, year, sequence };
}
