import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  // Relative, so that the page also works below a path prefix of a reverse proxy.
  base: './',
  build: {
    outDir: '../dist/client-demo',
    emptyOutDir: true,
    target: 'es2022',
    // The page runs under a policy that knows no inline code and no data: scripts or styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    // `npx vite --config client-demo/vite.config.ts` beside a running `npm run dev`.
    proxy: { '/socket.io': { target: 'http://localhost:3000', ws: true } },
  },
});
