/** A QR code as one path of an SVG: elements made by calls, because the page's policy allows no inline markup. */
import encodeQR from 'qr';
import { createSvg } from '../base/elements.ts';

/** Width of the quiet zone in modules, which scanners need. */
const QUIET_ZONE = 3;

export function qrPicture(text: string, label: string): SVGSVGElement {
  const rows = encodeQR(text, 'raw', { border: QUIET_ZONE });
  const size = String(rows.length);
  const svg = createSvg('svg', {
    viewBox: `0 0 ${size} ${size}`,
    role: 'img',
    'aria-label': label,
    'shape-rendering': 'crispEdges',
  });
  const path = rows.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  // Dark on light in every colour scheme: many scanners cannot read it inverted.
  svg.append(
    createSvg('rect', { width: size, height: size, fill: '#ffffff' }),
    createSvg('path', { d: path, fill: '#0d1412' }),
  );
  return svg;
}
