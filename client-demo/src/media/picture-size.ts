/**
 * Resolution and frame rate by the number of members. In a mesh every member encodes its video once for each peer and
 * decodes one of each, so a larger call needs smaller videos; its tiles are smaller, too. Every row comes to about 15
 * million encoded pixels per second: what a small laptop can do without its fan.
 */

interface PictureSize {
  readonly most: number;
  readonly width: number;
  readonly height: number;
  readonly frameRate: number;
}

const SIZES: readonly PictureSize[] = [
  { most: 2, width: 960, height: 540, frameRate: 30 },
  { most: 4, width: 640, height: 360, frameRate: 24 },
  { most: 6, width: 480, height: 270, frameRate: 20 },
];
const LEAST: PictureSize = { most: Number.POSITIVE_INFINITY, width: 480, height: 270, frameRate: 15 };

export function pictureFor(people: number): MediaTrackConstraints {
  const { width, height, frameRate } = SIZES.find(({ most }) => people <= most) ?? LEAST;
  return { width: { ideal: width }, height: { ideal: height }, frameRate: { ideal: frameRate, max: frameRate } };
}
