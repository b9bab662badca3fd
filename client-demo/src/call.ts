/** One stay in one room: the room as events tell it, the connections with the others, and what the screen shows of both. */
import type { CloseReason, IceServer, Profile, Push, RoomRef, RoomSnapshot, UserId } from '../../src/protocol/index.ts';
import { Announcement } from './announcement.ts';
import type { CallView } from './call-view.ts';
import type { Camera } from './camera.ts';
import { showInAddress } from './code.ts';
import type { Connection } from './connection.ts';
import { Mesh } from './mesh.ts';
import { narrate } from './narrate.ts';
import { profileOf } from './page.ts';
import { Replica, type RoomEvent } from './replica.ts';
import { type Signal, writeSignal } from './signals.ts';
import type { Failure } from './texts.ts';
import { nameOf } from './tile.ts';

export interface CallSetup {
  readonly connection: Connection;
  readonly camera: Camera;
  readonly view: CallView;
  /** The room is over, or our seat in it. */
  ended(why: CloseReason | 'kicked' | 'no-seat'): void;
}

const RETRY_MS = 1_000;
const MOST_RETRIES = 3;

export class Call {
  readonly #setup: CallSetup;
  readonly #mesh: Mesh;
  readonly #announcement: Announcement;
  readonly #replica = new Replica({
    changed: (room, before, event) => this.#changed(room, before, event),
    behind: () => void this.#catchUp(),
  });
  #own: UserId | undefined;
  #catchingUp = false;
  #over = false;

  constructor(setup: CallSetup) {
    this.#setup = setup;
    const { camera, view, connection } = setup;
    this.#announcement = new Announcement(connection, () => camera.presence);
    this.#mesh = new Mesh(
      {
        send: (to, signal) => void this.#send(to, signal),
        stream: (of, stream) => view.setStream(of, stream),
        state: (of, state) => {
          view.setLink(of, state);
          this.#show();
        },
      },
      camera.tracks,
    );
  }

  get room(): RoomSnapshot | null {
    return this.#replica.room;
  }

  get mesh(): Mesh {
    return this.#mesh;
  }

  /** What goes with the request for a seat. */
  profile(name: string | undefined): Profile {
    const { presence } = this.#setup.camera;
    this.#announcement.assume(presence);
    return { ...profileOf(presence), ...(name !== undefined && { name }) };
  }

  /** We have just taken a seat, and told of our camera with it. */
  enter(room: RoomSnapshot, own: UserId, iceServers: readonly IceServer[]): void {
    this.#begin(room, own);
    this.#mesh.start(iceServers);
    // The camera may have come on since the request.
    void this.#announcement.send();
  }

  /** A new page on a seat that was ours before it was loaded. */
  async resume(room: RoomSnapshot, own: UserId): Promise<void> {
    this.#begin(room, own);
    // The others wait for this: it tells them that their connections with us are those of a page that is gone.
    void this.#announcement.send();
    const answer = await this.#setup.connection.request('ice', {});
    if (!this.#over) this.#mesh.start(answer.ok ? answer.iceServers : []);
  }

  /** The same page, back on the server. */
  resumed(room: RoomSnapshot): void {
    this.#replica.adopt(room);
    void this.#announcement.send();
    this.#mesh.resumed();
  }

  take(event: RoomEvent): void {
    this.#replica.take(event);
  }

  hint(rev: number, ref?: RoomRef): void {
    this.#replica.hint(rev, ref);
  }

  signal({ from, data, ref }: Push<'signal'>): void {
    // Before our snapshot is there, only signals of the room we are about to enter can reach us.
    if (ref === (this.room?.ref ?? ref)) this.#mesh.take(from, data);
  }

  message({ from, data, ref }: Push<'message'>): void {
    const member = this.room?.members.find(({ userId }) => userId === from);
    // What we said ourselves is on the screen already, whether or not a server sends it back.
    if (member === undefined || from === this.#own || ref !== this.room?.ref) return;
    const text = typeof data === 'object' && data !== null && 'text' in data ? data['text'] : data;
    if (typeof text === 'string') this.#setup.view.said(nameOf(member), text);
  }

  cameraChanged(): void {
    this.#mesh.setTracks(this.#setup.camera.tracks);
    void this.#announcement.send();
  }

  close(): void {
    this.#over = true;
    this.#announcement.stop();
    this.#mesh.close();
  }

  #begin(room: RoomSnapshot, own: UserId): void {
    this.#own = own;
    this.#setup.view.reset();
    this.#replica.adopt(room);
  }

  #changed(room: RoomSnapshot, before: RoomSnapshot | null, event?: RoomEvent): void {
    if (this.#over || this.#own === undefined) return;
    const self = room.members.find(({ userId }) => userId === this.#own);
    if (event?.name === 'room:closed') this.#setup.ended(event.body.reason);
    else if (self === undefined) this.#setup.ended(isKick(event) ? 'kicked' : 'no-seat');
    else {
      const others = room.members.filter((member) => member !== self);
      this.#mesh.update(self, others);
      const news = event && before && narrate(event, before, this.#own);
      if (news) this.#setup.view.chat.tell(news);
      showInAddress(room.code);
      this.#show();
    }
  }

  async #catchUp(): Promise<void> {
    if (this.#catchingUp) return;
    this.#catchingUp = true;
    const answer = await this.#setup.connection.request('room:get', {});
    this.#catchingUp = false;
    if (this.#over) return;
    if (answer.ok) this.#replica.adopt(answer.room);
    else if (answer.error.code === 'NOT_IN_ROOM') this.#setup.ended('no-seat');
    // The next event, heartbeat or reconnect tells again that we are behind.
  }

  async #send(to: UserId, signal: Signal): Promise<void> {
    const payload = { to, data: writeSignal(signal) };
    for (let attempt = 0; attempt <= MOST_RETRIES && !this.#over; attempt += 1) {
      const answer = await this.#setup.connection.request('signal', payload);
      if (answer.ok || !isWorthRepeating(answer.error)) return;
      await pause(answer.error.retryAfterMs ?? RETRY_MS);
    }
  }

  #show(): void {
    if (this.room !== null && this.#own !== undefined && !this.#over) this.#setup.view.show(this.room, this.#own);
  }
}

/** Whoever is away, or loses the server, begins anew when they are back; the mesh sees to that. */
const isWorthRepeating = (failure: Failure): boolean =>
  failure.code !== 'UNREACHABLE' && failure.code !== 'PEER_AWAY' && failure.retryable;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const isKick = (event?: RoomEvent): boolean => event?.name === 'member:left' && event.body.reason === 'kicked';
