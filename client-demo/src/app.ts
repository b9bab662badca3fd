/** Switches between lobby, call and end, following the events of the SDK. */
import {
  type Client,
  connect,
  type Profile,
  type Room,
  type RoomCode,
  type RoomEnding,
  type SignalboxError,
  tabStore,
} from '../../src/client/index.ts';
import { grouped, linkTo, showInAddress } from './base/code.ts';
import { copy } from './base/copy.ts';
import { elementById } from './base/elements.ts';
import { Notice } from './base/notice.ts';
import { type Ending, showEnd, showView } from './base/views.ts';
import { Call } from './call/call.ts';
import { CallView } from './call/call-view.ts';
import { profileOf } from './call/person.ts';
import { ConnectionNotice } from './connection-notice.ts';
import type { PeerReport, SignalboxDemo } from './demo-api.ts';
import { endingOf } from './endings.ts';
import { type Complaint, Lobby } from './lobby/lobby.ts';
import { Media } from './media/media.ts';
import { reportOf } from './peer-report.ts';
import { failureText, isOfCode, texts, thrownText } from './texts/texts.ts';

/** Eight videos fit on a screen, and every member of a mesh sends its video to each of the others. */
const MAX_MEMBERS = 8;

/** `ready()`, repeated while the server is unreachable. @throws SignalboxError when the client has ended */
async function readyAfterRetries(client: Client): Promise<Room | null> {
  for (;;) {
    try {
      return await client.ready();
    } catch (error) {
      if (client.ending !== null) throw error;
    }
  }
}

export class App implements SignalboxDemo {
  readonly #notice = new Notice();
  readonly #media = new Media(this.#notice);
  readonly #lobby = new Lobby({
    join: (code) => this.#enter((client, profile) => client.join(code, { profile })),
    create: () => this.#enter((client, profile) => client.create({ maxUsers: MAX_MEMBERS, profile })),
  });
  readonly #view = new CallView(
    {
      leave: () => this.#leave(),
      copyLink: () => this.#copyLink(),
      say: async (text) => (await this.#call?.say(text)) ?? { reached: false, failure: null },
      toggleScreen: () => void this.#media.toggleScreen(),
      lock: (locked) => void this.#attempt((room) => room.update({ locked })),
      remove: ({ userId }, ban) => void this.#attempt((room) => room.kick(userId, { ban })),
      end: () => void this.#end(),
    },
    this.#notice,
    this.#media.speaker,
  );
  /** Shared by all clients of this page: the client of the next call is the same user. */
  readonly #store = tabStore() ?? null;
  #client: Client;
  #call: Call | null = null;
  /** The room closed by this user. */
  #endedByUs: Room | null = null;
  /** `?relay=only`: to try out a TURN server. */
  readonly #isRelayOnly = new URLSearchParams(window.location.search).get('relay') === 'only';

  constructor() {
    // After a reload in a room: the address has its code, and the tab has a resume token.
    const mayComeBack = window.location.hash !== '' && this.#store?.get() != null;
    this.#client = this.#connect();
    this.#media.capture.onChange(() => this.#call?.captureChanged());
    this.#media.screen.onChange(() => this.#call?.screenChanged());
    window.addEventListener('hashchange', () => this.#call && showInAddress(this.#call.room.code));
    if (mayComeBack) showView('starting', null, null);
    else this.#showLobby();
  }

  async start(): Promise<void> {
    void this.#media.capture.start();
    try {
      const room = await readyAfterRetries(this.#client);
      if (room !== null) this.#begin(room);
      else if (this.#call === null && elementById('lobby', HTMLElement).hidden) this.#showLobby();
    } catch {
      // The client has ended; the `state` listener has shown why.
    }
  }

  get userId(): string | null {
    return this.#client.userId;
  }

  get ref(): string | null {
    return this.#call?.room.ref ?? null;
  }

  get rev(): number | null {
    return this.#call?.room.rev ?? null;
  }

  get state(): SignalboxDemo['state'] {
    return this.#client.state;
  }

  async peers(): Promise<PeerReport[]> {
    const call = this.#call;
    if (call === null) return [];
    return Promise.all([...call.mesh.peers.values()].map(async (peer) => reportOf(peer, await call.stats(peer))));
  }

  #connect(): Client {
    const client = connect(window.location.origin, { store: this.#store });
    const words = new ConnectionNotice(this.#notice, () => this.#call !== null);
    client.on('state', (state) => {
      words.show(state);
      if (state === 'online') this.#lobby.digits = client.codeDigits;
      if (client.ending?.reason === 'refused') this.#refused(client.ending.error);
      // A room reports its end itself; but there may be none.
      else if (client.ending?.reason === 'replaced') this.#ended({ reason: 'replaced' });
    });
    client.on('retry', ({ error }) => words.failed(error));
    return client;
  }

  async #enter(ask: (client: Client, profile: Profile) => Promise<Room>): Promise<Complaint | null> {
    const { name } = this.#lobby;
    const profile = { ...profileOf(this.#media.capture.presence), ...(name !== undefined && { name }) };
    try {
      this.#begin(await ask(this.#client, profile));
      return null;
    } catch (error) {
      return { words: thrownText(error), isOfCode: isOfCode(error) };
    }
  }

  #begin(room: Room): void {
    // The room may have ended before a listener was added.
    if (room.ending !== null) {
      this.#ended(room.ending);
      return;
    }
    this.#call?.close();
    const { capture, screen, wakefulness } = this.#media;
    this.#call = new Call({
      room,
      capture,
      screen,
      view: this.#view,
      notice: this.#notice,
      isRelayOnly: this.#isRelayOnly,
      onEnded: (ending) => this.#ended(ending),
    });
    wakefulness.hold();
    showView('call', grouped(room.code), this.#view.heading);
  }

  #leave(): void {
    // The room ends at once for this page; the SDK tells the server.
    void this.#call?.room.leave().catch(() => undefined);
  }

  async #end(): Promise<void> {
    const room = this.#call?.room ?? null;
    this.#endedByUs = room;
    await this.#attempt((current) => current.close());
    // The close has failed: a later end has another cause.
    if (room?.ending === null) this.#endedByUs = null;
  }

  #ended(ending: RoomEnding): void {
    const isByUs = this.#call !== null && this.#call.room === this.#endedByUs;
    this.#drop();
    if (ending.reason !== 'replaced') showInAddress(null);
    const words = endingOf(ending, isByUs);
    if (words === null) this.#showLobby();
    else this.#showEnd(words);
  }

  #drop(): void {
    this.#call?.close();
    this.#call = null;
    this.#notice.hush();
    this.#media.wakefulness.release();
  }

  #refused(error: SignalboxError | undefined): void {
    const way = { label: texts.ended.again, run: () => window.location.reload() };
    const lead = error === undefined ? texts.errors.INTERNAL() : failureText(error);
    this.#showEnd({ heading: texts.ended.refused.heading, lead }, way);
  }

  #showEnd(words: Omit<Ending, 'way'>, way = { label: texts.ended.home, run: () => this.#goHome() }): void {
    // The camera's light goes off.
    this.#media.capture.stop();
    this.#notice.clear();
    showEnd({ ...words, way });
  }

  #goHome(): void {
    if (this.#client.state === 'closed') this.#client = this.#connect();
    void this.#media.capture.start();
    this.#showLobby();
  }

  #showLobby(): void {
    this.#lobby.fromAddress();
    showView('lobby', null, this.#lobby.start);
  }

  async #copyLink(): Promise<string> {
    const code: RoomCode | undefined = this.#call?.room.code;
    if (code === undefined) return '';
    const link = linkTo(code);
    return (await copy(link)) ? texts.invite.copied : texts.invite.copyByHand(link);
  }

  /** A request of the host; an error is shown at the top of the page. */
  async #attempt(ask: (room: Room) => Promise<void>): Promise<void> {
    try {
      if (this.#call !== null) await ask(this.#call.room);
    } catch (error) {
      this.#notice.remark(thrownText(error));
    }
  }
}
