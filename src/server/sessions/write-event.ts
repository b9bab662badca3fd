/** Writes an event that is JSON text already to a connection. */
/** The packet type of an event in Socket.IO's protocol. */
const EVENT = '2';

/** @param event `["name",body]` as JSON text. */
export function writeEvent({ conn }: { readonly conn: { write(packet: string): unknown } }, event: string): void {
  // Without Socket.IO's encoder: there is nothing binary, no acknowledgement, and one namespace.
  conn.write(EVENT + event);
}
