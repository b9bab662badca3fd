/**
 * How large and how fast a picture is worth sending. In a mesh everyone encodes their own picture once for each of the
 * others and decodes one of each, so the more there are, the less there may be of each; their tiles are smaller too.
 * Every row comes to about 15 million pixels a second to encode: what a small laptop does without its fan.
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
