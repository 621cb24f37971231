// Controls the node's Caddy through its admin API on a unix socket and through upstream files. The agent writes an
// accepted configuration to the file that Caddy starts from, because Caddy's own saved copy may not survive a power cut.

import { setTimeout as pause } from 'node:timers/promises'
import { type Backend, type PeerSecurity, type RouterAdmin, RouterError } from '../../ports/router.ts'
import type { CaddySettings } from '../../ports/router-settings.ts'
import { writeDurably } from '../../state/durable-file.ts'
import { callAdmin } from './admin-call.ts'
import { buildConfig, type CaddyConfig } from './build-config.ts'
import { readAdminId, readInFlight } from './decode-admin.ts'
import { openPeerKeys } from './peer-keys.ts'
import { probePeer } from './probe-peer.ts'
import { openUpstreamFiles } from './upstream-files.ts'

const READ_MS = 2000
const LOAD_MS = 10_000
/** Interval at which Caddy is asked for its configuration after a load with an unknown outcome. */
const POLL_MS = 200
const MAX_POLLS = 10

/** Creates the adapter for Caddy. `configFile`: the file that Caddy starts from. */
export function createCaddyAdmin(settings: CaddySettings, configFile: string): RouterAdmin {
  const upstreams = openUpstreamFiles(settings.upstreamsFolder)
  const get = (path: string): Promise<unknown> => callAdmin(settings.adminSocket, 'GET', path, READ_MS)
  const serves = async (version: string): Promise<boolean> =>
    readAdminId(await get('/config/admin')) === version

  async function post(text: string, version: string): Promise<void> {
    try {
      await callAdmin(settings.adminSocket, 'POST', '/load', LOAD_MS, text)
    } catch (error) {
      if (!(error instanceof RouterError) || error.fault === 'refused' || !(await wasLoaded(version)))
        throw error
    }
  }
  async function wasLoaded(version: string): Promise<boolean> {
    for (let left = MAX_POLLS; left > 0; left -= 1) {
      // A failed poll of Caddy is ignored: it only means that Caddy does not answer yet.
      const answer = await serves(version).catch(() => undefined)
      if (answer !== undefined) return answer
      await pause(POLL_MS)
    }
    return false
  }
  /** Version of the configuration last written to the file that Caddy starts from. */
  let saved = ''
  const configOf = rememberLast((backends, security) => buildConfig(settings, backends, security))
  const keys = openPeerKeys(settings.upstreamsFolder)
  return {
    readUpstreams: upstreams.read,
    writeUpstreams: upstreams.write,
    async load(backends, security) {
      const { text, version } = configOf(backends, security)
      if (security !== undefined) await keys.write(security.identity)
      const isServed = await serves(version)
      if (!isServed) await post(text, version)
      if (saved !== version) await writeDurably(configFile, text)
      // Upstream files of removed routes are deleted last: requests read them until Caddy has the new configuration.
      if (!isServed || saved !== version) await upstreams.removeOthers(backends)
      if (!isServed || saved !== version) await keys.removeOthers(security?.identity)
      saved = version
    },
    probe: probePeer,
    requestsInFlight: async () => readInFlight(await get('/reverse_proxy/upstreams')),
  }
}

type Build = (backends: readonly Backend[], security: PeerSecurity | undefined) => CaddyConfig

/** Builds a configuration only if its inputs changed since the last call; otherwise returns the last configuration. */
function rememberLast(build: Build): Build {
  let last: { key: string; config: CaddyConfig } | undefined
  return (backends, security) => {
    const key = JSON.stringify([backends.map(({ name, routes }) => [name, routes]), security])
    if (last?.key !== key) last = { key, config: build(backends, security) }
    return last.config
  }
}
