/** From view to view: which of lobby, call and end is on the screen, and what the server's words change about that. */
import type { CloseReason, Push, RoomCode, RoomRef, RoomSnapshot, UserId } from '../../src/protocol/index.ts';
import { Call } from './call.ts';
import { CallView } from './call-view.ts';
import { Camera } from './camera.ts';
import { grouped, linkTo, showInAddress } from './code.ts';
import { type Answer, Connection } from './connection.ts';
import { copy } from './copy.ts';
import { Lobby } from './lobby.ts';
import { Notice } from './notice.ts';
import { ROOM_EVENTS, type RoomEvent } from './replica.ts';
import { report } from './report.ts';
import { recall } from './storage.ts';
import type { PeerReport, SignalboxDemo } from './surface.ts';
import { type Failure, failureText, texts } from './texts.ts';
import { showEnd, showView } from './views.ts';

/** Four pictures fit on a screen, and every member of a mesh sends its own to each of the others. */
const MOST_MEMBERS = 4;

export class App implements SignalboxDemo {
  readonly #camera = new Camera();
  readonly #notice = new Notice();
  readonly #lobby = new Lobby({ join: (code) => this.#join(code), create: () => this.#create() }, this.#camera);
  readonly #view = new CallView(
    {
      leave: () => void this.#leave(),
      copyLink: () => void this.#copyLink(),
      say: (text) => this.#say(text),
      silenced: () => this.#askForSound(),
    },
    this.#camera,
  );
  readonly #connection = new Connection({
    welcome: (welcome) => this.#welcomed(welcome),
    lost: (failure) => this.#lost(failure),
    refused: (failure) => this.#end(texts.ended.refused.heading, failureText(failure), reload),
    replaced: () => this.#end(texts.ended.replaced.heading, texts.ended.replaced.lead, reload),
  });
  /** In a room, or about to take a seat in one: events may arrive before the reply that lets us in. */
  #call: Call | null = null;
  #userId: UserId | null = null;
  /** A room left while the server was out of reach: it still keeps our seat. */
  #left: RoomRef | null = null;
  #lostInCall = false;
  /** The server has announced that it goes away: what follows is no surprise. */
  #isMoving = false;
  #heartbeat: ReturnType<typeof setInterval> | undefined;

  async start(): Promise<void> {
    this.#listen();
    this.#lobby.fromAddress();
    if (recall('resume') === null) this.#showLobby();
    else showView('starting');
    void this.#camera.start();
    await this.#connection.ready();
    if (this.#call === null) this.#showLobby();
  }

  get userId(): UserId | null {
    return this.#userId;
  }

  get ref(): RoomRef | null {
    return this.#call?.room?.ref ?? null;
  }

  get rev(): number | null {
    return this.#call?.room?.rev ?? null;
  }

  peers(): Promise<PeerReport[]> {
    return Promise.all((this.#call?.mesh.pairs() ?? []).map(([userId, pair]) => report(userId, pair)));
  }

  #listen(): void {
    const connection = this.#connection;
    for (const name of ROOM_EVENTS) {
      // The name and the body belong together; the compiler cannot follow them through the loop.
      connection.on(name, (body) => this.#call?.take({ name, body } as RoomEvent));
    }
    connection.on('room:rev', ({ rev, ref }) => this.#call?.hint(rev, ref));
    connection.on('signal', (signal) => this.#call?.signal(signal));
    connection.on('message', (message) => this.#call?.message(message));
    connection.on('session:kicked', ({ banned }) => this.#kicked(banned));
    connection.on('server:drain', () => this.#moving());
    this.#camera.onChange(() => this.#call?.cameraChanged());
    document.addEventListener('visibilitychange', () => void this.#beat());
    window.addEventListener('hashchange', () => this.#call?.room && showInAddress(this.#call.room.code));
  }

  #welcomed({ userId, limits, heartbeatIntervalMs, room }: Push<'welcome'>): void {
    this.#userId = userId;
    this.#lobby.digits = limits.codeDigits;
    clearInterval(this.#heartbeat);
    this.#heartbeat = setInterval(() => void this.#beat(), heartbeatIntervalMs);
    this.#notice.release('connection');
    if (this.#lostInCall) this.#notice.remark(texts.connection.back);
    this.#lostInCall = false;
    this.#isMoving = false;
    const seated = this.#call?.room;
    if (seated && room?.ref === seated.ref) this.#call?.resumed(room);
    else if (seated) void this.#rejoin(seated);
    else if (room && room.ref === this.#left) void this.#connection.request('room:leave', {});
    else if (room) this.#resume(room, userId);
    this.#left = null;
  }

  #moving(): void {
    this.#isMoving = true;
    this.#notice.hold('connection', texts.connection.moving);
  }

  #lost(failure?: Failure): void {
    this.#lostInCall ||= this.ref !== null;
    if (this.#isMoving) {
      // Announced; only when coming back fails too there is something to say.
      this.#isMoving = false;
      return;
    }
    const words = this.ref === null ? texts.connection.lostInLobby : texts.connection.lost;
    this.#notice.hold('connection', failure === undefined ? words : failureText(failure));
  }

  async #beat(): Promise<void> {
    const { rev } = this;
    const answer = await this.#connection.request('heartbeat', rev === null ? {} : { rev });
    // No revision, for us who think that we are in a room: ask, and learn that we are not.
    if (answer.ok) this.#call?.hint(answer.rev ?? Number.MAX_SAFE_INTEGER);
  }

  async #create(): Promise<void> {
    const failure = await this.#sit((call) =>
      this.#connection.request('room:create', { maxUsers: MOST_MEMBERS, profile: call.profile(this.#lobby.name) }),
    );
    this.#lobby.complain(complaint(failure));
  }

  async #join(code: RoomCode, ref?: RoomRef): Promise<Failure | null> {
    const failure = await this.#sit((call) =>
      this.#connection.request('room:join', { code, ...(ref && { ref }), profile: call.profile(this.#lobby.name) }),
    );
    this.#lobby.complain(complaint(failure));
    return failure;
  }

  /** Our seat was given away while we were out of reach. */
  async #rejoin({ code, ref }: RoomSnapshot): Promise<void> {
    this.#drop();
    if ((await this.#join(code, ref)) === null) this.#notice.remark(texts.connection.rejoined);
    else this.#showLobby();
  }

  async #sit(ask: (call: Call) => Promise<Answer<'room:join'>>): Promise<Failure | null> {
    const failure = await this.#connection.ready();
    if (failure !== null || this.#call !== null || this.#userId === null) return failure;
    const call = this.#newCall();
    const answer = await ask(call);
    if (answer.ok) {
      showView('call', grouped(answer.room.code));
      call.enter(answer.room, this.#userId, answer.iceServers);
      return null;
    }
    if (this.#call === call) this.#drop();
    return answer.error;
  }

  #resume(room: RoomSnapshot, userId: UserId): void {
    showView('call', grouped(room.code));
    void this.#newCall().resume(room, userId);
  }

  #newCall(): Call {
    this.#drop();
    const call = new Call({
      connection: this.#connection,
      camera: this.#camera,
      view: this.#view,
      ended: (why) => this.#ended(why),
    });
    this.#call = call;
    return call;
  }

  #drop(): void {
    this.#call?.close();
    this.#call = null;
    this.#notice.release('sound');
  }

  async #leave(): Promise<void> {
    const { ref } = this;
    this.#drop();
    showInAddress(null);
    this.#showLobby();
    const answer = await this.#connection.request('room:leave', {});
    if (!answer.ok) this.#left = ref;
  }

  #ended(why: CloseReason | 'kicked' | 'no-seat'): void {
    const room = this.#call?.room;
    if (why === 'kicked') this.#kicked(false);
    else if (why !== 'no-seat') this.#end(texts.ended.closed.heading, texts.ended.closed.lead[why]);
    else if (room) void this.#rejoin(room);
  }

  #kicked(banned: boolean): void {
    this.#end(texts.ended.kicked.heading, banned ? texts.ended.kicked.banned : texts.ended.kicked.lead);
  }

  #end(heading: string, lead: string, home = () => this.#showLobby()): void {
    this.#drop();
    // The code of a room that is over is of no use, that of one that goes on in another tab is.
    if (home === reload) this.#camera.stop();
    else showInAddress(null);
    this.#notice.clear();
    showEnd(heading, lead, home);
  }

  #showLobby(): void {
    this.#lobby.fromAddress();
    showView('lobby');
    this.#lobby.focus();
  }

  async #copyLink(): Promise<void> {
    const code = this.#call?.room?.code;
    if (code === undefined) return;
    const link = linkTo(code);
    this.#notice.remark((await copy(link)) ? texts.call.copied : texts.call.copyByHand(link));
  }

  async #say(text: string): Promise<string | null> {
    const answer = await this.#connection.request('message', { data: { text } });
    if (!answer.ok) return failureText(answer.error);
    this.#view.saidByMe(text);
    return null;
  }

  #askForSound(): void {
    const run = (): void => {
      void this.#view.playAll();
      this.#notice.release('sound');
    };
    this.#notice.hold('sound', texts.call.soundBlocked, { label: texts.call.sound, run });
  }
}

const reload = (): void => window.location.reload();
const complaint = (failure: Failure | null): string => (failure === null ? '' : failureText(failure));
