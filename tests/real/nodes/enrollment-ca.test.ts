// A machine enrolls with only the printed command: the command pins the server's certificate, the agent stores the pin,
// and warnings about the container engine are shown.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { loadNodeState } from '@holdfast/agent/state/node-state'
import {
  type Certificates,
  type DockerLine,
  makeCertificates,
  makeTempFolder,
  startDockerEngine,
} from '@holdfast/testkit'
import { enroll, enrollment, joinToken } from '@holdfast/testkit/nodes/enroll'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { type Platform, type Replica, startReplica } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const run = promisify(execFile)
const AGENT = new URL('../../../packages/agent/src/main.ts', import.meta.url).pathname
const JOIN_TOKENS = '/api/v1/nodes/join-tokens'

let certificates: Certificates
let platform: Platform
let secure: Replica
beforeAll(async () => {
  certificates = await makeCertificates()
  platform = await ownPlatform()
  const cert = join(makeTempFolder('chain').path, 'chain.crt')
  writeFileSync(cert, certificates.pem('server.crt') + certificates.pem('ca.crt'))
  secure = await startReplica(platform, {}, { tls: { cert, key: certificates.path('server.key') } })
})
afterAll(async () => {
  await secure.stop()
  await platform.stop()
  certificates.remove()
})

/** Requests the enrollment command of a node, as a tenant administrator who trusts the certificate authority. */
async function commandFor(nodeName: string): Promise<string> {
  const headers = { authorization: `Bearer ${platform.acme.token}`, 'content-type': 'application/json' }
  const url = new URL(JOIN_TOKENS, secure.baseUrl)
  const answer: unknown = await new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', headers, ca: certificates.pem('ca.crt') })
    outgoing.once('response', (response) => resolve(json(response)))
    outgoing.once('error', reject)
    outgoing.end(JSON.stringify({ nodeName }))
  })
  return String(Object(answer).command)
}

const rows: readonly [DockerLine, string][] = [
  ['old', 'Warning: engine_below_floor: The engine version is 20.10.'],
  ['new', ''],
]
test.each(rows)('the returned command enrolls a machine with the %s engine', async (line, warning) => {
  const command = await commandFor(`pinned-${line}`)
  expect(command).toMatch(
    new RegExp(
      `^holdfast-agent enroll --server https:\\S+ --ca-pin sha256:[0-9a-f]{64} --token \\S+ --name pinned-${line}$`,
    ),
  )
  const engine = await startDockerEngine({ line })
  try {
    const state = makeTempFolder('agent').path
    const more = ['--state', state, '--engine', `unix://${engine.socketPath}`]
    const { stdout, stderr } = await run(process.execPath, [AGENT, ...command.split(' ').slice(1), ...more])
    expect(stdout).toContain(`Enrolled pinned-${line} as node_`)
    expect(stderr.slice(0, warning.length || undefined)).toBe(warning)
    expect((await loadNodeState(state))?.ca?.trim()).toBe(certificates.pem('ca.crt').trim())
  } finally {
    await engine.stop()
  }
})

test('a server without TLS pins nothing', async () => {
  const issued = await platform.api(platform.acme.token).post(JOIN_TOKENS, { nodeName: 'plain-1' })
  expect(issued.body['command']).not.toContain('--ca-pin')
})

test.each([
  ['29.5.0', ['engine_below_floor engine.version']],
  ['library-import', ['engine_below_floor engine.version']],
  ['29.5.1', undefined],
])('an enrollment with engine %s gets the expected warnings', async (version, expected) => {
  const nodeName = `floor-${version.replaceAll('.', '-')}`
  const token = await joinToken(platform.api(platform.acme.token), nodeName)
  const sent = enrollment(nodeName, token, { engine: { version, apiVersion: '1.56' } })
  const { status, body } = await enroll(platform.baseUrl, sent)
  const { warnings } = Object(body)
  expect(status).toBe(201)
  expect(warnings?.map(({ code, field }: { code: string; field: string }) => `${code} ${field}`)).toEqual(
    expected,
  )
})
