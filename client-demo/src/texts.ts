/**
 * Every word a person reads on this page. Another language is another object of the same shape.
 * Words that stand still are put into the page by their path: `data-text="lobby.join"` (see elements.ts).
 */
import type { CloseReason, ErrorBody, ErrorCode, LeaveReason } from '../../src/protocol/index.ts';

/** A refusal by the server, or no answer from it. */
export type Failure = ErrorBody | { readonly code: 'UNREACHABLE'; readonly retryAfterMs?: number };

export type CameraFault = 'denied' | 'missing' | 'busy' | 'insecure' | 'unknown';

export const texts = {
  title: 'Signalbox',
  skip: 'Skip to the call',
  starting: 'Getting you back into the room…',
  lobby: {
    heading: 'Meet by a code',
    lead: 'Type the six digits you were given, or create a room and hand out its code.',
    invited: (code: string) => `You are invited to room ${code}. Join when you are ready.`,
    preview: 'Your camera',
    name: 'Your name',
    nameHint: 'Optional',
    code: 'Room code',
    codePlaceholder: '000 000',
    join: 'Join',
    or: 'or',
    create: 'Create a room',
    busy: 'One moment…',
    codeIncomplete: (digits: number) => `A room code has ${digits} digits. Check what you typed.`,
    note: 'Picture and sound go directly between your browsers.',
  },
  call: {
    code: 'Room code',
    copy: 'Copy link',
    copied: 'Link copied. Whoever opens it can join this room.',
    copyByHand: (link: string) => `Copy this link: ${link}`,
    people: 'People',
    chat: 'Chat',
    panel: 'Chat and people',
    unread: 'Chat and people, new message',
    mute: 'Mute microphone',
    unmute: 'Unmute microphone',
    cameraOff: 'Turn camera off',
    cameraOn: 'Turn camera on',
    leave: 'Leave',
    alone: 'Nobody else is here yet',
    aloneLead: 'Read the code out, or send the link.',
    chatEmpty: 'Messages are seen by whoever is in the room now. Nothing is kept.',
    chatField: 'Message',
    chatPlaceholder: 'Write to everyone',
    send: 'Send',
    sound: 'Turn sound on',
    soundBlocked: 'Your browser keeps the others silent until you allow sound.',
  },
  person: {
    guest: (seq: number) => `Guest ${seq}`,
    me: 'You',
    you: (name: string) => `${name} (you)`,
    host: 'Host',
    present: 'Here',
    away: 'Away',
    awayLong: 'Connection lost, may come back',
    connecting: 'Connecting…',
    unreachable: 'No connection. Trying again…',
    muted: 'Microphone off',
    count: (present: number, away: number) => `${present} here${away > 0 ? `, ${away} away` : ''}`,
  },
  events: {
    joined: (name: string) => `${name} joined`,
    back: (name: string) => `${name} is back`,
    away: (name: string) => `${name} lost the connection`,
    left: {
      left: (name) => `${name} left`,
      lost: (name) => `${name} did not come back`,
      kicked: (name) => `${name} was removed`,
    },
    youHost: 'You are the host now',
    locked: 'The host has locked the room',
    unlocked: 'The room is open again',
  } satisfies { left: Record<LeaveReason, (name: string) => string>; [key: string]: unknown },
  connection: {
    lost: 'Connection to the server lost. Trying again… Your call goes on as long as your browsers reach each other.',
    lostInLobby: 'The server cannot be reached. Trying again…',
    moving: 'The server is being restarted. You will be moved over in a moment.',
    back: 'Connected again.',
    rejoined: 'You were away too long for your seat to be kept, so you have joined again.',
  },
  ended: {
    home: 'Go to the start page',
    again: 'Try again',
    replaced: {
      heading: 'The call goes on in another tab',
      lead: 'This call was opened in another tab or window, so it was closed here. Continue there.',
    },
    kicked: {
      heading: 'You were removed from the room',
      lead: 'The host has taken your seat. You can join or create another room.',
      banned:
        'The host has removed you and does not want you to join this room again. You can join or create another one.',
    },
    closed: {
      heading: 'The room has ended',
      lead: {
        closed: 'The host has closed the room. Create a new one to go on.',
        'host-left': 'The host has left, and the room ended with that. Create a new one to go on.',
        empty: 'Nobody was left in the room. Create a new one to go on.',
        idle: 'Nothing happened in the room for a long time. Create a new one to go on.',
        aged: 'The room has reached its greatest age. Create a new one to go on.',
      } satisfies Record<CloseReason, string>,
    },
    refused: { heading: 'The server does not let you in' },
  },
  camera: {
    asking: 'Your browser asks whether this page may use camera and microphone.',
    off: 'Your camera is off',
    denied: 'Camera and microphone are blocked for this page. Allow them in the address bar, or join without.',
    missing: 'No camera or microphone was found. You can join anyway: you will see and hear the others.',
    busy: 'Another program is using your camera. Close it and turn the camera on, or join without.',
    insecure: 'Browsers give the camera only to pages on https or localhost. You can join without it.',
    unknown: 'Your camera could not be started. You can join without it.',
    noCamera: 'No camera was found, so you will be heard but not seen.',
    noMicrophone: 'No microphone was found, so you will be seen but not heard.',
  } satisfies Record<CameraFault, string> & Record<string, string>,
};

/** `wait` is the time after which it may work, in words, if the server has named one. */
const sentences: Record<Failure['code'], (wait?: string) => string> = {
  UNREACHABLE: () => 'The server does not answer. Check your network, then try again.',
  BAD_REQUEST: () => 'The server did not understand this page. Reload it, then try again.',
  UNAUTHENTICATED: () => 'The server does not know you any more. Reload the page to start afresh.',
  FORBIDDEN: () => 'Only the host of the room may do this. Ask the host.',
  VERSION_UNSUPPORTED: () => 'This page is older or newer than the server. Reload it.',
  ROOM_NOT_FOUND: () => 'No room has this code. Check the digits, or ask for the code again.',
  CODE_EXPIRED: () => 'The room this code stood for has ended. Ask for a new code, or create a room.',
  ROOM_FULL: () => 'This room is full. Try again when somebody has left, or create another room.',
  ROOM_LOCKED: () => 'The host has locked this room. Ask the host to open it, then join again.',
  PIN_REQUIRED: () => 'This room asks for a PIN, which this page cannot send yet. Ask the host for another room.',
  PIN_INVALID: () => 'The PIN is wrong. Ask the host for it.',
  LOBBY_WAITING: () => 'The host has been asked to let you in. Wait a moment.',
  BANNED: () => 'The host has removed you from this room. Join another one, or create a room.',
  NOT_IN_ROOM: () => 'You are not in the room any more. Join it again.',
  PEER_NOT_FOUND: () => 'This person is not in the room any more.',
  PEER_AWAY: () => 'This person has lost the connection. Wait until they are back.',
  PAYLOAD_TOO_LARGE: () => 'This is too long. Shorten it, then send it again.',
  RATE_LIMITED: (wait) => `Too many tries. ${wait === undefined ? 'Wait a moment' : `Wait ${wait}`}, then try again.`,
  QUOTA_EXCEEDED: (wait) =>
    `Too many connections come from your network. ${wait === undefined ? 'Try again later' : `Try again in ${wait}`}, or close other tabs.`,
  CONFLICT: () => 'Something else happened at the same moment. Try again.',
  POOL_EXHAUSTED: (wait) =>
    `Every room code is in use. ${wait === undefined ? 'Try again in a few minutes' : `Try again in ${wait}`}.`,
  STORE_UNAVAILABLE: (wait) =>
    `The server has trouble right now. Try again ${wait === undefined ? 'in a moment' : `in ${wait}`}.`,
  REFERENCE_UNAVAILABLE: () => 'The server cannot open new rooms right now. Try again in a moment.',
  DRAINING: () => 'This server is being restarted. Try again in a few seconds.',
  SESSION_EXPIRED: () => 'Your connection was idle for too long. Join again.',
  INTERNAL: () => 'The server failed at this, and has noted it. Try again, or reload the page.',
} satisfies Record<ErrorCode | 'UNREACHABLE', (wait?: string) => string>;

export function failureText(failure: Failure): string {
  return sentences[failure.code](failure.retryAfterMs === undefined ? undefined : timeText(failure.retryAfterMs));
}

function timeText(milliseconds: number): string {
  const seconds = Math.max(1, Math.ceil(milliseconds / 1000));
  if (seconds < 90) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}

const graphemes = new Intl.Segmenter();

export function initialsOf(name: string): string {
  const words = name.split(/\s+/u).slice(0, 2);
  const letters = words.map((word) => [...graphemes.segment(word)][0]?.segment ?? '');
  return letters.join('').toLocaleUpperCase();
}
