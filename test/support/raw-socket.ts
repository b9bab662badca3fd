/**
 * A WebSocket client that says whatever it is told, frame by frame: libraries refuse to send most of what an attacker
 * sends. It answers the transport's pings, and nothing else by itself.
 */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { ErrorBody } from '../../src/protocol/errors.ts';
import { PATIENCE_MS } from './patience-ms.ts';

export const SOCKET_PATH = '/socket.io/?EIO=4&transport=websocket';

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export type Answer = { ok: true; [field: string]: unknown } | { ok: false; error: ErrorBody };

export class RawSocket implements AsyncDisposable {
  /** Every text message that came, in order. */
  readonly texts: string[] = [];
  readonly closed: Promise<void>;
  answersPings = true;
  /** Without it, the close frame of the server is ignored, and the connection stays open until the server ends it. */
  answersClose = true;
  private readonly tcp: Socket;
  private readonly waiting = new Set<() => void>();
  private readonly asked = new Map<string, (answer: Answer) => void>();
  private received = Buffer.alloc(0);
  private lastId = 0;

  private constructor(tcp: Socket, head: Buffer) {
    this.tcp = tcp;
    this.closed = new Promise((resolve) => tcp.once('close', () => resolve()));
    tcp.on('error', () => {}); // `close` follows
    tcp.on('data', (chunk) => this.read(chunk));
    void this.closed.then(() => this.look());
    this.read(head);
  }

  /** Upgrades a TCP connection. @throws when the server answers with anything but 101. */
  static async open(port: number, headers: Readonly<Record<string, string>> = {}, path = SOCKET_PATH) {
    const tcp = connect({ port, host: '127.0.0.1', noDelay: true });
    const lines = Object.entries({ Host: `127.0.0.1:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}`);
    const key = randomBytes(16).toString('base64');
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    tcp.write(`${[`GET ${path} HTTP/1.1`, ...lines, ...upgrade, `Sec-WebSocket-Key: ${key}`].join('\r\n')}\r\n\r\n`);
    const { status, rest } = await readHead(tcp);
    if (status === 101) return new RawSocket(tcp, rest);
    tcp.destroy();
    throw new Error(`refused with ${status}`);
  }

  /** A connection that has been welcomed. */
  static async join(port: number, headers: Readonly<Record<string, string>> = {}, auth: object = { v: 1 }) {
    const socket = await RawSocket.open(port, headers);
    socket.send(`40${JSON.stringify(auth)}`);
    await socket.next(/^42\["welcome"/);
    return socket;
  }

  get open(): boolean {
    return !this.tcp.destroyed && this.tcp.readyState === 'open';
  }

  get userId(): string {
    const welcome = this.texts.find((text) => text.startsWith('42["welcome"')) ?? '';
    return /"userId":"([^"]+)"/.exec(welcome)?.[1] ?? '';
  }

  /** One text frame. */
  send(text: string): void {
    this.write(frame(OPCODE.text, Buffer.from(text)));
  }

  sendBinary(bytes: Uint8Array): void {
    this.write(frame(OPCODE.binary, bytes));
  }

  /** Leaves what comes where it is, and goes on sending. */
  stopReading(): void {
    this.tcp.pause();
  }

  /** Bytes under the WebSocket protocol. */
  write(bytes: Uint8Array): void {
    if (this.open) this.tcp.write(bytes);
  }

  /** Writes the bytes again and again, as fast as they are taken. Resolves when the server has closed the connection. */
  flood(bytes: Uint8Array): Promise<void> {
    this.answersClose = false;
    const goOn = () => {
      while (this.open && this.tcp.write(bytes));
    };
    this.tcp.on('drain', goOn);
    goOn();
    return this.end();
  }

  /** Sends an event that asks for an acknowledgement; `json` is the array, ready-made. */
  askText(json: string): Promise<Answer> {
    this.lastId += 1;
    const id = String(this.lastId);
    return new Promise((resolve, reject) => {
      const fail = (why: string) => {
        clearTimeout(timer);
        reject(new Error(`${why} to ${json.slice(0, 200)}`));
      };
      const timer = setTimeout(() => fail('no answer'), PATIENCE_MS);
      void this.closed.then(() => fail('closed before the answer'));
      this.asked.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.send(`42${id}${json}`);
    });
  }

  ask(name: unknown, ...payloads: readonly unknown[]): Promise<Answer> {
    return this.askText(JSON.stringify([name, ...payloads]));
  }

  /** The first text message that matches, past or future. */
  next(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        clearTimeout(timer);
        this.waiting.delete(look);
        end();
      };
      const fail = (why: string) => settle(() => reject(new Error(`${why} before ${pattern}; came: ${this.tail()}`)));
      const look = () => {
        const found = this.texts.find((text) => pattern.test(text));
        if (found !== undefined) settle(() => resolve(found));
        else if (!this.open) fail('the connection was closed');
      };
      const timer = setTimeout(() => fail(`${PATIENCE_MS} ms went by`), PATIENCE_MS);
      this.waiting.add(look);
      look();
    });
  }

  /** Resolves when the server has closed the connection. */
  async end(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`still open; came: ${this.tail()}`)), PATIENCE_MS);
    });
    await Promise.race([this.closed, late]).finally(() => clearTimeout(timer));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.tcp.destroy();
    await this.closed;
  }

  /** Frames of a server are neither masked nor, here, fragmented. */
  private read(chunk: Buffer): void {
    this.received = Buffer.concat([this.received, chunk]);
    for (let part = unframe(this.received); part !== undefined; part = unframe(this.received)) {
      this.received = this.received.subarray(part.size);
      if (part.opcode === OPCODE.text) this.hear(part.payload.toString());
      else if (part.opcode === OPCODE.close && this.answersClose) this.tcp.end();
    }
  }

  private hear(text: string): void {
    const [, id = '', list = ''] = /^43(\d+)(.*)$/s.exec(text) ?? [];
    const answered = this.asked.get(id);
    if (answered !== undefined) {
      this.asked.delete(id);
      answered((JSON.parse(list) as [Answer])[0]);
      return;
    }
    if (text !== '2') this.texts.push(text);
    else if (this.answersPings) this.send('3');
    this.look();
  }

  private look(): void {
    for (const look of this.waiting) look();
  }

  private tail(): string {
    return this.texts
      .slice(-3)
      .map((text) => text.slice(0, 200))
      .join(' ');
  }
}

/** A frame as a client sends it: masked, here with zeros. */
export function frame(opcode: number, payload: Uint8Array, { final = true, masked = true } = {}): Buffer {
  const { byteLength } = payload;
  const length = byteLength < 126 ? [byteLength] : byteLength < 65_536 ? [126] : [127];
  const extended = Buffer.alloc(byteLength < 126 ? 0 : byteLength < 65_536 ? 2 : 8);
  if (extended.length === 2) extended.writeUInt16BE(byteLength);
  else if (extended.length === 8) extended.writeBigUInt64BE(BigInt(byteLength));
  const first = Buffer.from([(final ? 0x80 : 0) | opcode, (masked ? 0x80 : 0) | (length[0] ?? 0)]);
  return Buffer.concat([first, extended, Buffer.alloc(masked ? 4 : 0), payload]);
}

function unframe(bytes: Buffer): { opcode: number; payload: Buffer; size: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes.readUInt8(1) & 0x7f;
  const start = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < start) return undefined;
  const length = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
  const size = start + length;
  if (bytes.length < size) return undefined;
  return { opcode: bytes.readUInt8(0) & 0x0f, payload: bytes.subarray(start, size), size };
}

function readHead(tcp: Socket): Promise<{ status: number; rest: Buffer }> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const onEnd = () => reject(new Error('the connection was closed before it was upgraded'));
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf('\r\n\r\n');
      if (end === -1) return;
      tcp.off('data', onData);
      tcp.off('close', onEnd);
      tcp.off('error', reject);
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(received.toString('latin1', 0, end))?.[1]);
      resolve({ status, rest: received.subarray(end + 4) });
    };
    tcp.on('data', onData);
    tcp.once('close', onEnd);
    tcp.once('error', reject);
  });
}
