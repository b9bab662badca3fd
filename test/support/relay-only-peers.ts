/** WebRTC peers without a browser that use relay candidates only. */
import wrtc from '@roamhq/wrtc';

export interface Attempt {
  /** Whether a message went through; if not, whether they had a relay at all, or what came instead. */
  readonly outcome: 'talked' | 'no relay' | 'refused';
  /** Codes of the errors met while looking for relays, such as 401. */
  readonly errors: readonly number[];
}

/** Libwebrtc asks every TURN server for STUN too, which does not work on loopback, and says so. */
const NO_STUN_ON_LOOPBACK = 701;

/**
 * Two peers try to connect. Resolves when a message went through, or when one of them has found no relay.
 *
 * @param refused resolves when the TURN server has refused them: peers that have a relay candidate would try for ever.
 */
export async function connectThroughRelay(
  ofFirst: readonly RTCIceServer[],
  ofSecond: readonly RTCIceServer[],
  refused: Promise<unknown> = new Promise(() => {}),
): Promise<Attempt> {
  using first = new RelayOnlyPeer(ofFirst);
  using second = new RelayOnlyPeer(ofSecond);
  first.candidatesFor(second);
  second.candidatesFor(first);
  const talked = first.say('hello', second);
  await connect(first, second);
  const outcome = await Promise.race([talked, first.nothing, second.nothing, refused.then(() => 'refused' as const)]);
  return { outcome, errors: [...first.errors, ...second.errors] };
}

/** Whether a relay lets a peer in; what it may do there is another matter. */
export async function hasRelay(iceServers: readonly RTCIceServer[]): Promise<boolean> {
  using peer = new RelayOnlyPeer(iceServers);
  using other = new RelayOnlyPeer([]);
  void peer.say('hello', other);
  await connect(peer, other);
  return (await peer.gathered) > 0;
}

/** A peer on a relay that is asked to reach these addresses, whatever is there. The relay's log tells what became of it. */
export async function reachFor(iceServers: readonly RTCIceServer[], addresses: readonly string[]): Promise<Disposable> {
  const peer = new RelayOnlyPeer(iceServers);
  using other = new RelayOnlyPeer([]);
  void peer.say('hello', other);
  await connect(peer, other);
  for (const address of addresses) {
    const candidate = `candidate:1 1 udp 1 ${address} 40000 typ host`;
    await peer.connection.addIceCandidate({ candidate, sdpMid: '0', sdpMLineIndex: 0 });
  }
  return peer;
}

async function connect({ connection: caller }: RelayOnlyPeer, { connection: callee }: RelayOnlyPeer): Promise<void> {
  const offer = await caller.createOffer();
  // Each side hears of the other before it hears of its candidates.
  await callee.setRemoteDescription(offer);
  await caller.setLocalDescription(offer);
  const answer = await callee.createAnswer();
  await caller.setRemoteDescription(answer);
  await callee.setLocalDescription(answer);
}

class RelayOnlyPeer implements Disposable {
  readonly connection: RTCPeerConnection;
  readonly errors: number[] = [];
  /** How many addresses it has on relays, when all are known. */
  readonly gathered: Promise<number>;
  #addresses = 0;

  constructor(iceServers: readonly RTCIceServer[]) {
    this.connection = new wrtc.RTCPeerConnection({ iceServers: [...iceServers], iceTransportPolicy: 'relay' });
    this.connection.onicecandidateerror = ({ errorCode }) => {
      if (errorCode !== NO_STUN_ON_LOOPBACK) this.errors.push(errorCode);
    };
    this.connection.addEventListener('icecandidate', ({ candidate }) => {
      // The last one of all is empty, or none.
      if (candidate?.candidate) this.#addresses += 1;
    });
    this.gathered = new Promise((resolve) => {
      this.connection.onicegatheringstatechange = () => {
        if (this.connection.iceGatheringState === 'complete') resolve(this.#addresses);
      };
    });
  }

  get nothing(): Promise<'no relay'> {
    return this.gathered.then((addresses) => (addresses === 0 ? 'no relay' : new Promise(() => {})));
  }

  candidatesFor(other: RelayOnlyPeer): void {
    this.connection.addEventListener('icecandidate', ({ candidate }) => {
      // Late ones find it closed.
      if (candidate?.candidate) other.connection.addIceCandidate(candidate).catch(() => {});
    });
  }

  say(text: string, to: RelayOnlyPeer): Promise<'talked'> {
    const channel = this.connection.createDataChannel('talk');
    channel.onopen = () => channel.send(text);
    return new Promise((resolve) => {
      to.connection.ondatachannel = ({ channel: heard }) => {
        heard.onmessage = ({ data }) => {
          if (data === text) resolve('talked');
        };
      };
    });
  }

  [Symbol.dispose](): void {
    this.connection.close();
  }
}
