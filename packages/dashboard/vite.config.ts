// How the dashboard is built: static files below /ui, with hashed names and nothing inline, because the server's content
// security policy allows neither inline scripts nor inline style elements.

import { env } from 'node:process'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The server that answers /api while the dashboard is developed with `npm run dev:dashboard`. */
const server = env.HOLDFAST_URL ?? 'http://127.0.0.1:8080'

const FIRST_LIBRARIES =
  /node_modules\/(react|react-dom|scheduler|@tanstack\/(history|query-core|react-query|react-router|react-store|router-core|store))\//

export default defineConfig({
  root: import.meta.dirname,
  base: '/ui/',
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    manifest: true,
    // Lists the packages in the build, for the notice and the bill of materials of what ships.
    license: { fileName: '.vite/licenses.json' },
    target: 'es2024',
    // Small files would become data: URLs, which the policy rejects.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Browsers read few files at a time, so the libraries of the first load are one file instead of twenty.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'libraries', test: FIRST_LIBRARIES }] } },
    },
  },
  server: { proxy: { '/api': { target: server, ws: true } } },
})
