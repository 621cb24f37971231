// Containers with secrets on real engines of both supported Docker versions: their environment, the reports while a
// secret is unavailable, and that secrets appear nowhere but in the engine's own configuration.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DesiredItem } from '@holdfast/contract'
import { PROOF_LABEL } from '@holdfast/core/node'
import { waitUntil } from '@holdfast/testkit'
import Docker from 'dockerode'
import { expect, it } from 'vitest'
import { desiredItem, isUp, type TestNode } from './fixtures/agent.fixture.ts'
import { onEngines } from './fixtures/real-engine.fixture.ts'
import { EngineError } from './ports/engine.ts'
import { NoSessionError } from './ports/session.ts'

const CANARY = 'canary-e81b07d2'
const RESOLVED = {
  kind: 'resolved',
  environment: { MODE: 'fast', DB_key: CANARY, URL: `db://u:${CANARY}@db?a=b` },
  proof: 'proof-of-version-1',
} as const
const REFUSED = { kind: 'unresolved', about: 'DB: store_unavailable' } as const
const SECRETS = {
  environment: { MODE: 'fast' },
  secrets: [{ name: 'DB', namespace: 'resources', label: 'db', version: 1 }],
  composedEnvironment: { URL: 'db://u:{{secret.db.key}}@db?a=b' },
}
/** A time that is longer than any backoff. */
const PAST_BACKOFF_MS = 60_000

onEngines('containers with secrets', (world) => {
  const inspect = (id: string | null) =>
    new Docker({ socketPath: world().docker.socketPath }).getContainer(id ?? '').inspect()
  const secretItem = (name = 'web'): DesiredItem => desiredItem(world().image, { ...SECRETS, name })
  const everything = (node: TestNode): string =>
    [
      ...node.logged,
      JSON.stringify(node.reports),
      ...readdirSync(node.folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8')),
    ].join('\n')
  const tryAgain = (node: TestNode, items: readonly DesiredItem[]): void => {
    node.aheadMs += PAST_BACKOFF_MS
    node.send(items)
  }

  it('creates a container with its secrets, reports the proof, and stores the secrets nowhere else', async () => {
    const { node, agent } = await world().newNode()
    node.environment = async () => RESOLVED
    const item = secretItem()
    node.send([item])
    const seen = await node.until(item, 'ready', ({ state }) => state === 'ready')
    const found = await inspect(seen.containerId)
    expect(found.Config.Env).toEqual(
      expect.arrayContaining(Object.entries(RESOLVED.environment).map(([name, value]) => `${name}=${value}`)),
    )
    expect(found.Config.Labels[PROOF_LABEL]).toBe(RESOLVED.proof)
    expect(seen.proof).toBe(RESOLVED.proof)
    const of = node.reports.filter(({ containerId }) => containerId !== null)
    expect(of.every(({ proof }) => proof === RESOLVED.proof)).toBe(true)
    await agent.close()
    expect(readdirSync(node.folder)).toContain('desired.json')
    expect(everything(node)).not.toContain(CANARY)
    expect(JSON.stringify([found.Config.Labels, found.HostConfig, found.Name])).not.toContain(CANARY)
  })

  it('does not create a container while a secret is unavailable, creates others, and recovers', async () => {
    const { node } = await world().newNode()
    node.environment = async () => REFUSED
    const [item, plain] = [secretItem(), desiredItem(world().image, { name: 'plain' })]
    node.send([item, plain])
    const refused = await node.until(item, 'refused', ({ reason }) => reason === 'secret_unresolved')
    expect(refused).toMatchObject({ state: 'starting', containerId: null, about: REFUSED.about })
    await node.until(plain, 'running', isUp)
    expect(await node.containersOf(item)).toEqual([])
    node.environment = async () => ({ kind: 'unresolved', about: 'DB: denied' })
    tryAgain(node, [item, plain])
    await node.until(item, 'refused otherwise', ({ about }) => about === 'DB: denied')
    node.environment = async () => RESOLVED
    tryAgain(node, [item, plain])
    const healed = await node.until(item, 'running', isUp)
    expect([healed.reason, healed.about, healed.proof]).toEqual(['', undefined, RESOLVED.proof])
    expect((await inspect(healed.containerId)).Config.Env).toContain(`DB_key=${CANARY}`)
  })

  it('containers that wait for secrets do not block others', async () => {
    const { node } = await world().newNode()
    let answer = (): void => {}
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    let requests = 0
    node.environment = () => {
      requests += 1
      return answered.then(() => RESOLVED)
    }
    const waiting = Array.from({ length: 12 }, (_, index) => secretItem(`waits-${index}`))
    const plain = desiredItem(world().image, { name: 'plain' })
    node.send(waiting)
    await waitUntil(() => requests === waiting.length, { what: 'all environments were requested' })
    node.send([...waiting, plain])
    await node.until(plain, 'running', isUp)
    answer()
    for (const item of waiting) await node.until(item, 'running', isUp)
  })

  it('requests secrets again after a restart of the agent, and starts existing containers without a request', async () => {
    const { node, agent } = await world().newNode((engine) => ({
      ...engine,
      createContainer: async () => {
        throw new EngineError('unavailable', 'the agent died before its create')
      },
    }))
    let requests = 0
    node.environment = async () => {
      requests += 1
      return { ...RESOLVED, proof: `attempt-${requests}` }
    }
    const item = secretItem()
    node.send([item])
    await waitUntil(() => requests === 1, { what: 'the environment was requested' })
    await agent.close()
    const second = await node.start()
    node.send([item])
    const created = await node.until(item, 'running', isUp)
    expect([created.proof, await node.containersOf(item)]).toEqual([
      `attempt-${requests}`,
      [created.containerId],
    ])
    await second.close()
    const before = requests
    await node.engine.stopContainer(created.containerId ?? '', 0)
    const seen = node.reports.length
    // The restarted agent needs no server, because the saved desired set is enough.
    const third = await node.start()
    await waitUntil(
      () =>
        node.reports.slice(seen).some(({ state, proof }) => state === 'running' && proof === created.proof),
      {
        what: 'it runs again',
      },
    )
    expect([requests, await node.containersOf(item)]).toEqual([before, [created.containerId]])
    await third.close()
    expect(everything(node)).not.toContain(CANARY)
  })

  it('reports no failure of a container with secrets while there is no session', async () => {
    const { node } = await world().newNode()
    let requests = 0
    node.environment = async () => {
      requests += 1
      throw new NoSessionError()
    }
    const item = secretItem()
    node.send([item])
    await waitUntil(() => requests === 1, { what: 'the environment was requested' })
    tryAgain(node, [item])
    await waitUntil(() => requests === 2, { what: 'it was requested again' })
    expect(node.reports.filter(({ reason }) => reason !== '')).toEqual([])
    expect(await node.containersOf(item)).toEqual([])
  })

  it('never reports a secret that a failed health check prints', { timeout: 60_000 }, async () => {
    const { node } = await world().newNode()
    node.environment = async () => RESOLVED
    const prints = [
      'echo raw $DB_key url $URL',
      'printf %s "user:$DB_key" | /bin/busybox base64',
      'printf %s "$DB_key" | /bin/busybox xxd -p',
      'head -c 5000 /dev/zero | /bin/busybox tr "\\0" x; echo $DB_key',
      'exit 1',
    ].join('; ')
    const healthCheck = { type: 'exec', command: [prints], interval: '1s', startPeriod: '0s', retries: 1 }
    const item = desiredItem(world().image, { ...SECRETS, name: 'talks', healthCheck })
    node.send([item])
    // The first report has the output of the agent's own check, the second one that of the engine's.
    const first = await node.until(item, 'failing', ({ failedChecks }) => failedChecks !== undefined)
    const second = await node.until(item, 'unhealthy', ({ reason }) => reason === 'unhealthy')
    for (const { cause } of [first, second]) expect(cause).toMatch(/^raw \[redacted\] url \[redacted\]/)
    const forms = [
      CANARY,
      Buffer.from(CANARY).toString('hex'),
      Buffer.from(CANARY).toString('base64').slice(0, 12),
    ]
    expect(forms.filter((form) => everything(node).includes(form))).toEqual([])
    await node.clear()
  })

  it('never quotes secrets in the error of an engine that fails to create or start a container', async () => {
    const words = `invalid environment variable: DB_key=${CANARY}`
    const { node } = await world().newNode((engine) => ({
      ...engine,
      createContainer: async (name, body) => {
        if (name.startsWith('uncreated')) throw new EngineError('failed', words)
        return engine.createContainer(name, body)
      },
      startContainer: async () => {
        throw new EngineError('failed', words)
      },
    }))
    node.environment = async () => RESOLVED
    const [uncreated, unstarted] = [secretItem('uncreated'), secretItem('unstarted')]
    node.send([uncreated, unstarted])
    const cause = 'invalid environment variable: DB_key=[redacted]'
    const [first, second] = [
      await node.until(uncreated, 'not created', ({ reason }) => reason === 'create_failed'),
      await node.until(unstarted, 'not started', ({ reason }) => reason === 'start_failed'),
    ]
    expect([first.cause, second.cause]).toEqual([cause, cause])
    // The second attempt starts the existing container, whose environment only the engine knows.
    tryAgain(node, [uncreated, unstarted])
    const logged = (): number => node.logged.filter((line) => line.includes('"action":"start"')).length
    await waitUntil(() => logged() > 0, { what: 'the existing container was started again' })
    expect(node.newest(unstarted)?.cause).toBe(cause)
    expect(everything(node)).toContain('engine fault: failed')
    expect(everything(node)).not.toContain(CANARY)
  })
})
