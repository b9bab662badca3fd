/** The mesh itself: a partner for every other member, and what is sent to all of them. */

import type { Json, UserId } from '../../protocol/index.ts';
import { Emitter, type Unsubscribe } from '../emitter.ts';
import type { Room, RoomEvents } from '../room.ts';
import { uniqueId } from '../unique-id.ts';
import { KINDS } from './media.ts';
import type { MediaKind, Mesh, MeshEvents, MeshOptions, Peer } from './mesh.ts';
import type { MeshContext, Outgoing } from './mesh-context.ts';
import { MeshPeer } from './mesh-peer.ts';
import { readSignal } from './signals.ts';

const MAX_EARLY = 200;

/** Connects with every other member of the room, whoever is there and whoever comes, until it is closed. */
export function mesh(room: Room, options: MeshOptions = {}): Mesh {
  return new RoomMesh(room, options);
}

class RoomMesh extends Emitter<MeshEvents> implements Mesh {
  readonly peers = new Map<UserId, MeshPeer>();
  readonly #room: Room;
  readonly #outgoing: Outgoing = {
    audio: null,
    video: null,
    screen: null,
    cameraId: new MediaStream(),
    screenId: new MediaStream(),
  };
  readonly #shared: MeshContext;
  readonly #listening: Unsubscribe[];
  #seq: number;
  #early: RoomEvents['signal'][] = [];
  #isClosed = false;

  constructor(room: Room, { stream = null, iceTransportPolicy = 'all' }: MeshOptions) {
    super();
    this.#room = room;
    this.#seq = room.self.seq;
    this.#shared = {
      room,
      events: this,
      outgoing: this.#outgoing,
      page: uniqueId(),
      offers: 0,
      // One way for everything: fewer candidates, and nothing that could fail by itself.
      configuration: () => ({ iceServers: [...room.iceServers], iceTransportPolicy, bundlePolicy: 'max-bundle' }),
    };
    this.#listening = [
      room.on('change', () => this.#sync()),
      room.on('rejoined', () => this.#sync()),
      room.on('resumed', () => this.#each((partner) => partner.refresh())),
      room.on('signal', (signal) => this.#take(signal)),
      room.on('ice', () => this.#each(({ pair }) => pair?.connection.setConfiguration(this.#shared.configuration()))),
      room.on('ended', () => this.close()),
    ];
    this.setStream(stream);
    // Not before the caller listens. A page that was refreshed finds others who do not know of it: so no wait for a hello.
    queueMicrotask(() => (room.ending ? this.close() : this.#sync(0)));
  }

  setStream(stream: MediaStream | null): void {
    for (const kind of KINDS) this.#outgoing[kind] = stream?.getTracks().find((track) => track.kind === kind) ?? null;
    this.#fill();
  }

  replaceTrack(kind: MediaKind, track: MediaStreamTrack | null): void {
    this.#outgoing[kind] = track;
    this.#fill();
  }

  share(screen: MediaStream | null): void {
    for (const track of this.#outgoing.screen?.getTracks() ?? []) track.removeEventListener('ended', this.#unshare);
    this.#outgoing.screen = this.#isClosed ? null : screen;
    for (const track of this.#outgoing.screen?.getTracks() ?? []) track.addEventListener('ended', this.#unshare);
    this.#fill();
    this.emit('share', this.#outgoing.screen);
  }

  send(data: Json): Peer[] {
    return [...this.peers.values()].filter((partner) => !partner.send(data));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const stop of this.#listening) stop();
    if (this.#outgoing.screen) this.share(null);
    this.#each((partner) => this.#drop(partner));
  }

  /** The browser has a button of its own that ends a share. */
  readonly #unshare = (): void => {
    if (this.#outgoing.screen?.getTracks().every(({ readyState }) => readyState === 'ended')) this.share(null);
  };

  #each(act: (partner: MeshPeer) => void): void {
    for (const partner of this.peers.values()) act(partner);
  }

  #fill(): void {
    this.#each(({ pair }) => pair?.fill());
  }

  /** Members have come, gone or changed; a seat is the member's as long as its `seq` is the same. */
  #sync(helloMs?: number): void {
    const { self, members } = this.#room;
    const isMoved = self.seq !== this.#seq;
    this.#seq = self.seq;
    this.#each((partner) => {
      const member = members.find(({ userId, seq }) => userId === partner.userId && seq === partner.member.seq);
      if (!member) this.#drop(partner);
      else {
        partner.update(member);
        if (isMoved) partner.reset();
      }
    });
    for (const member of members) {
      if (this.#isClosed || member.userId === self.userId || this.peers.has(member.userId)) continue;
      const partner = new MeshPeer(this.#shared, member);
      this.peers.set(member.userId, partner);
      this.emit('peer', partner);
      partner.begin(helloMs);
    }
    for (const signal of this.#early.splice(0)) this.#take(signal);
  }

  #drop(partner: MeshPeer): void {
    partner.close();
    this.peers.delete(partner.userId);
    this.emit('gone', partner);
  }

  #take(signal: RoomEvents['signal']): void {
    const partner = this.peers.get(signal.from);
    if (partner) partner.take(readSignal(signal.data));
    // It may overtake the news of who sends it.
    else if (this.#early.push(signal) > MAX_EARLY) this.#early.shift();
  }
}
