/** The hash slot of a key or a channel of a Cluster: CRC16 of what stands in its first braces, or of all of it. */

const SLOTS = 16_384;

const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x80_00 ? (crc << 1) ^ 0x10_21 : crc << 1;
  return crc;
});

/** What stands in the first braces of a key. */
export const tagOf = (key: string): string | undefined => /\{([^}]*)\}/s.exec(key)?.[1] || undefined;

export function slotOf(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(tagOf(key) ?? key)) {
    crc = ((crc << 8) ^ (TABLE[(crc >> 8) ^ byte] ?? 0)) & 0xff_ff;
  }
  return crc % SLOTS;
}
