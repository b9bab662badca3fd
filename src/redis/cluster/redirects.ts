/** Runs a command at the master of a slot, and where Redis says that it is instead. A redirected command had no effect. */
import { ErrorReply } from 'redis';
import type { PlainClient } from '../client.ts';

export interface Route {
  /** The connected master of the slot. */
  client(): PlainClient | undefined;
  /** The connected master of an address. */
  at(name: string): PlainClient | undefined;
  /** What is known of the slots is out of date. */
  refresh(): void;
  pause(ms: number): Promise<void>;
}

/** Altogether well below the deadline of a command, so that a slot on the move does not look like a silent master. */
const PAUSES_MS = [20, 40, 80, 160, 320];

/** @throws Error at once when the master of the slot is not connected. */
export async function runRouted<T>(route: Route, command: (client: PlainClient) => Promise<T>): Promise<T> {
  const atOwner = (): Promise<T> => {
    const client = route.client();
    return client ? command(client) : Promise.reject(new Error('not connected to the master of the slot'));
  };
  let run = atOwner;
  for (const pauseMs of PAUSES_MS) {
    try {
      return await run();
    } catch (error) {
      const { word, name } = redirectionOf(error);
      if (word !== 'ASK') route.refresh();
      const there = route.at(name);
      if (there === undefined) await route.pause(pauseMs);
      run = there === undefined ? atOwner : () => (word === 'ASK' ? asking(there, command) : command(there));
    }
  }
  return run();
}

/**
 * Where a command is to be sent again. A slot on the move has keys at both masters, and a script needs all of its keys at
 * one: it waits, and names none.
 *
 * @throws the error itself when it is no redirection.
 */
function redirectionOf(error: unknown): { readonly word: string; readonly name: string } {
  const [word = '', , name = ''] = error instanceof ErrorReply ? error.message.split(' ') : [];
  if (word === 'TRYAGAIN') return { word, name: '' };
  if (word !== 'MOVED' && word !== 'ASK') throw error;
  return { word, name };
}

/** Both commands are written in one go: ASKING is about the next command of the connection. */
async function asking<T>(client: PlainClient, command: (client: PlainClient) => Promise<T>): Promise<T> {
  const [, reply] = await Promise.all([client.sendCommand(['ASKING']), command(client)]);
  return reply;
}
