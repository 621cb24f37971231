// `npm run dev:dashboard`: the sources of the dashboard in a browser, where a change is seen at once. Requests go to the server
// in HOLDFAST_URL, else to the platform of `npm run dev:up`, else to http://127.0.0.1:8080.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { argv, env, execPath, exit, stdout } from 'node:process'
import { folderFromArguments } from './dev/dev-folder.ts'
import { readEnvironment } from './dev/environment.ts'

const ROOT = join(import.meta.dirname, '..')

const folder = folderFromArguments([])
const server =
  env['HOLDFAST_URL'] ?? (existsSync(folder.environment) ? readEnvironment(folder).baseUrl : undefined)
if (server === undefined) stdout.write('No platform of npm run dev:up is running; pages will have no data.\n')
else stdout.write(`Requests go to ${server}.\n`)
const vite = spawn(
  execPath,
  [join(ROOT, 'node_modules/vite/bin/vite.js'), 'packages/dashboard', ...argv.slice(2)],
  { cwd: ROOT, stdio: 'inherit', env: { ...env, ...(server === undefined ? {} : { HOLDFAST_URL: server }) } },
)
vite.once('exit', (status) => exit(status ?? 1))
