// Caddy behind the agent's port: by its admin API on a unix socket, and by the files that it reads. The configuration that
// it acknowledged is also written to the file that it starts from: its own copy is not written so that a power cut leaves
// the old or the new one.

import { setTimeout as pause } from 'node:timers/promises'
import { type Backend, type RouterAdmin, RouterError } from '../../ports/router.ts'
import type { CaddySettings } from '../../ports/router-settings.ts'
import { writeDurably } from '../../state/durable-file.ts'
import { callAdmin } from './admin-call.ts'
import { buildConfig, type CaddyConfig } from './build-config.ts'
import { readAdminId, readInFlight } from './decode-admin.ts'
import { openUpstreamFiles } from './upstream-files.ts'

const READ_MS = 2000
const LOAD_MS = 10_000
/** A load of unknown outcome is asked after, this often and this long. */
const ASK_AGAIN_MS = 200
const ASK_TIMES = 10

/** `configFile`: what Caddy is started with. */
export function createCaddyAdmin(settings: CaddySettings, configFile: string): RouterAdmin {
  const leads = openUpstreamFiles(settings.upstreamsFolder)
  const get = (path: string): Promise<unknown> => callAdmin(settings.adminSocket, 'GET', path, READ_MS)
  const serves = async (version: string): Promise<boolean> =>
    readAdminId(await get('/config/admin')) === version

  async function post(text: string, version: string): Promise<void> {
    try {
      await callAdmin(settings.adminSocket, 'POST', '/load', LOAD_MS, text)
    } catch (error) {
      if (!(error instanceof RouterError) || error.fault === 'refused' || !(await turnsOut(version)))
        throw error
    }
  }
  async function turnsOut(version: string): Promise<boolean> {
    for (let left = ASK_TIMES; left > 0; left -= 1) {
      const answer = await serves(version).catch(() => undefined)
      if (answer !== undefined) return answer
      await pause(ASK_AGAIN_MS)
    }
    return false
  }
  /** What was last written to the file that Caddy starts from. */
  let saved = ''
  const configOf = rememberLast((backends) => buildConfig(settings, backends))
  return {
    readUpstreams: leads.read,
    lead: leads.write,
    async load(backends) {
      const { text, version } = configOf(backends)
      const isServed = await serves(version)
      if (!isServed) await post(text, version)
      if (saved !== version) await writeDurably(configFile, text)
      // Only now: until then a request may still be led by one of them.
      if (!isServed || saved !== version) await leads.removeOthers(backends)
      saved = version
    },
    requestsInFlight: async () => readInFlight(await get('/reverse_proxy/upstreams')),
  }
}

/** Replicas come and go far more often than routes, of which alone the configuration is made. */
function rememberLast(
  build: (backends: readonly Backend[]) => CaddyConfig,
): (backends: readonly Backend[]) => CaddyConfig {
  let last: { key: string; config: CaddyConfig } | undefined
  return (backends) => {
    const key = JSON.stringify(backends.map(({ name, routes }) => [name, routes]))
    if (last?.key !== key) last = { key, config: build(backends) }
    return last.config
  }
}
