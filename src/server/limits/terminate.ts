/** Ends a connection without the closing handshake, which a hostile client would not complete. */

/** The part of an Engine.IO connection that is used here. */
export interface EngineConnection {
  readonly readyState: string;
  readonly transport: {
    /** With polling there is no WebSocket. */
    readonly socket?: { terminate(): void; pause(): void; resume(): void };
    onClose(): void;
  };
  /** With `discard`, buffered packets are dropped. */
  close(discard: boolean): void;
}

export function terminate(connection: EngineConnection): void {
  const { transport } = connection;
  connection.close(true);
  if (transport.socket !== undefined) transport.socket.terminate();
  // Polling that is closing already waits for the client's next request, half a minute at most, and ignores `close`.
  else if (connection.readyState !== 'closed') transport.onClose();
}
