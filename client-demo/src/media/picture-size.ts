/**
 * Resolution and frame rate by the number of members. In a mesh every member encodes its video once for each peer and
 * decodes one of each, so a larger call needs smaller videos; its tiles are smaller, too. Every row amounts to about 15
 * million encoded pixels per second: a load that a small laptop sustains without its fan.
 */

interface PictureSize {
  readonly maxPeople: number;
  readonly width: number;
  readonly height: number;
  readonly frameRate: number;
}

const SIZES: readonly PictureSize[] = [
  { maxPeople: 2, width: 960, height: 540, frameRate: 30 },
  { maxPeople: 4, width: 640, height: 360, frameRate: 24 },
  { maxPeople: 6, width: 480, height: 270, frameRate: 20 },
];
const SMALLEST: PictureSize = { maxPeople: Number.POSITIVE_INFINITY, width: 480, height: 270, frameRate: 15 };

export function pictureFor(people: number): MediaTrackConstraints {
  const { width, height, frameRate } = SIZES.find(({ maxPeople }) => people <= maxPeople) ?? SMALLEST;
  return { width: { ideal: width }, height: { ideal: height }, frameRate: { ideal: frameRate, max: frameRate } };
}
