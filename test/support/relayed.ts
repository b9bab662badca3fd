/** WebRTC peers without a browser that may use a relay and nothing else. */
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
 * Two peers try to meet. Resolves when they have talked, or when one of them has found no relay.
 *
 * @param refused what tells that they will never talk, for those who have a relay: they themselves would go on trying.
 */
export async function meetOnRelay(
  ofFirst: readonly RTCIceServer[],
  ofSecond: readonly RTCIceServer[],
  refused: Promise<unknown> = new Promise(() => {}),
): Promise<Attempt> {
  using first = new RelayedPeer(ofFirst);
  using second = new RelayedPeer(ofSecond);
  first.candidatesFor(second);
  second.candidatesFor(first);
  const talked = first.say('hello', second);
  await connect(first, second);
  const outcome = await Promise.race([talked, first.nothing, second.nothing, refused.then(() => 'refused' as const)]);
  return { outcome, errors: [...first.errors, ...second.errors] };
}

/** Whether a relay lets a peer in; what it may do there is another matter. */
export async function hasRelay(iceServers: readonly RTCIceServer[]): Promise<boolean> {
  using peer = new RelayedPeer(iceServers);
  using other = new RelayedPeer([]);
  void peer.say('hello', other);
  await connect(peer, other);
  return (await peer.gathered) > 0;
}

/** A peer on a relay that is asked to reach these addresses, whatever is there. The relay's log tells what became of it. */
export async function reachFor(iceServers: readonly RTCIceServer[], addresses: readonly string[]): Promise<Disposable> {
  const peer = new RelayedPeer(iceServers);
  using other = new RelayedPeer([]);
  void peer.say('hello', other);
  await connect(peer, other);
  for (const address of addresses) {
    const candidate = `candidate:1 1 udp 1 ${address} 40000 typ host`;
    await peer.connection.addIceCandidate({ candidate, sdpMid: '0', sdpMLineIndex: 0 });
  }
  return peer;
}

async function connect({ connection: caller }: RelayedPeer, { connection: callee }: RelayedPeer): Promise<void> {
  const offer = await caller.createOffer();
  // Each side hears of the other before it hears of its candidates.
  await callee.setRemoteDescription(offer);
  await caller.setLocalDescription(offer);
  const answer = await callee.createAnswer();
  await caller.setRemoteDescription(answer);
  await callee.setLocalDescription(answer);
}

class RelayedPeer implements Disposable {
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

  candidatesFor(other: RelayedPeer): void {
    this.connection.addEventListener('icecandidate', ({ candidate }) => {
      // Late ones find it closed.
      if (candidate?.candidate) other.connection.addIceCandidate(candidate).catch(() => {});
    });
  }

  say(text: string, to: RelayedPeer): Promise<'talked'> {
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
