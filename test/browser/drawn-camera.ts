/**
 * Somebody before a wall, instead of the fake camera's test pattern: a script for a page, which draws a small and slow
 * picture, because many people are many streams to encode and to decode at once.
 */

interface Appearance {
  readonly wall: string;
  readonly light: string;
  readonly coat: string;
  readonly skin: string;
  readonly hair: string;
  /** How far down the hair goes, in pixels. */
  readonly length: number;
}

const PEOPLE: readonly Appearance[] = [
  { wall: '#d8e5df', light: '#eaf2ee', coat: '#2f6f5b', skin: '#e8b999', hair: '#3a2a20', length: 150 },
  { wall: '#e9dfd0', light: '#f5eee4', coat: '#34527a', skin: '#8d5a3c', hair: '#1d1613', length: 20 },
  { wall: '#d6deea', light: '#e8eef6', coat: '#7a3f52', skin: '#f0c9a8', hair: '#b98a4b', length: 190 },
  { wall: '#e0e4d2', light: '#eff1e6', coat: '#4a4f59', skin: '#c98f66', hair: '#221b18', length: 30 },
  { wall: '#e4d9e4', light: '#f1eaf1', coat: '#5a4a86', skin: '#f2d0b4', hair: '#8c3f24', length: 120 },
  { wall: '#d3e2e6', light: '#e6f0f2', coat: '#b0682f', skin: '#6f4530', hair: '#15100e', length: 60 },
  { wall: '#ece2cc', light: '#f7f1e2', coat: '#23404a', skin: '#dba67f', hair: '#5b4a3f', length: 25 },
  { wall: '#dcdcdf', light: '#ededf0', coat: '#8b2f3c', skin: '#e9bd95', hair: '#2a2a2e', length: 165 },
];

interface PictureOptions {
  readonly width?: number;
  readonly framesPerSecond?: number;
}

/** To be run in a page before its own scripts: its camera is this picture, its microphone stays what it was. */
export function drawnCamera(index: number, options: PictureOptions = {}): string {
  return `{
    const stream = ${drawnStream(index, options)};
    if (navigator.mediaDevices) {
      const real = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
      navigator.mediaDevices.getUserMedia = async (wishes) =>
        new MediaStream([
          ...(wishes.audio ? (await real({ audio: true })).getTracks() : []),
          ...(wishes.video ? stream.clone().getTracks() : []),
        ]);
    }
  }`;
}

/** An expression whose value is a stream of the picture. */
export function drawnStream(index: number, { width = 640, framesPerSecond = 3 }: PictureOptions = {}): string {
  return `(${DRAW})(${JSON.stringify(PEOPLE[index % PEOPLE.length])}, ${width}, ${framesPerSecond})`;
}

const DRAW = `({ wall, light, coat, skin, hair, length }, width, framesPerSecond) => {
  const canvas = Object.assign(document.createElement('canvas'), { width, height: (width * 9) / 16 });
  const context = canvas.getContext('2d');
  context.scale(width / 640, width / 640);
  const blob = (colour, x, y, width, height) => {
    context.fillStyle = colour;
    context.beginPath();
    context.ellipse(x, y, width, height, 0, 0, 2 * Math.PI);
    context.fill();
  };
  const box = (colour, x, y, width, height, round) => {
    context.fillStyle = colour;
    context.beginPath();
    context.roundRect(x, y, width, height, round);
    context.fill();
  };
  const paint = () => {
    const x = 320 + 4 * Math.sin(performance.now() / 700);
    box(wall, 0, 0, 640, 360, 0);
    box(light, 452, 34, 128, 168, 4);
    box(light, 60, 84, 118, 10, 3);
    blob(hair, x, 150, 80, 86);
    box(hair, x - 80, 150, 160, length, 34);
    blob(coat, x, 392, 168, 132);
    box(skin, x - 30, 214, 60, 76, 30);
    blob(skin, x, 168, 64, 80);
    blob(hair, x, 98, 62, 30);
    blob('#231a16', x - 24, 164, 5.5, 6.5);
    blob('#231a16', x + 24, 164, 5.5, 6.5);
    context.strokeStyle = '#9c5348';
    context.lineWidth = 5;
    context.lineCap = 'round';
    context.beginPath();
    context.arc(x, 196, 20, 0.25 * Math.PI, 0.75 * Math.PI);
    context.stroke();
  };
  paint();
  setInterval(paint, 1000 / framesPerSecond);
  return canvas.captureStream(framesPerSecond);
}`;
