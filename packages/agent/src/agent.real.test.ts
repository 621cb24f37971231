// The agent on real engines of both supported Docker versions, with a real registry. The test acts as the server.

import { asOwner, deploymentUidOf } from '@holdfast/contract'
import {
  ASSIGNMENT_LABEL,
  containerSettings,
  findUnsafeSettings,
  ownParts,
  TENANT_LABEL,
  tenantNetwork,
} from '@holdfast/core/node'
import { startRegistry, uniqueName, waitUntil } from '@holdfast/testkit'
import Docker from 'dockerode'
import { expect, it } from 'vitest'
import { desiredItem, isUp, type TestNode } from './fixtures/agent.fixture.ts'
import { onBothEnginesAtOnce } from './fixtures/real-engine.fixture.ts'

const CANARY = 'canary-7f3a91'
const LISTENING = 'nc -w 1 127.0.0.1 8080 </dev/null'
const check = (command: string[]) => ({
  type: 'exec',
  command,
  interval: '5s',
  startPeriod: '0s',
  timeout: '10s',
})

onBothEnginesAtOnce('the agent', (world, line) => {
  const bare = (): Docker => new Docker({ socketPath: world().docker.socketPath })
  const nameOf = async (node: TestNode, id: string | null | undefined): Promise<string> =>
    (await node.engine.inspectContainer(id ?? '')).name

  it('creates, names, reports, stops and removes a container', async () => {
    const { node } = await world().newNode()
    // Containers of other files on the shared engine may be called web.
    const name = uniqueName('web')
    const [first, second] = [desiredItem(world().image, { name }), desiredItem(world().image, { name })]
    node.send([first, second])
    const one = await node.until(first, 'running', isUp)
    const other = await node.until(second, 'running', isUp)
    expect(await nameOf(node, one.containerId)).toBe(name)
    expect(await nameOf(node, other.containerId)).toBe(`${name}.1`)
    expect(one.startedAt).toMatch(/^20\d\d-/)
    await node.until(first, 'ready', ({ state, reason }) => state === 'ready' && reason === '')
    node.send([{ ...first, desired: 'stopped' }], { complete: false })
    await node.until(first, 'stopped', ({ state, gone }) => state === 'stopped' && !gone)
    expect(await node.containersOf(first)).toEqual([one.containerId])
    node.send(
      [
        { ...first, desired: 'removed' },
        { ...second, desired: 'removed' },
      ],
      { complete: false },
    )
    await node.until(first, 'gone', ({ gone }) => gone)
    await node.until(second, 'gone', ({ gone }) => gone)
    expect([await node.containersOf(first), await node.containersOf(second)]).toEqual([[], []])
    const states = node.reports.filter(({ assignmentId }) => assignmentId === first.assignmentId)
    expect(states.map(({ seq }) => seq)).toEqual(states.map(({ seq }) => seq).toSorted((a, b) => a - b))
  })

  it('uses the API version of its engine', async () => {
    const { node } = await world().newNode()
    expect((await node.engine.version()).apiVersion).toBe(line === 'old' ? '1.41' : '1.56')
  })

  it('creates a container with the settings of its template and no unsafe ones', async () => {
    const { node } = await world().newNode()
    const item = desiredItem(world().image, {
      name: 'w',
      environment: { COLOUR: 'blue sky', EMPTY: '' },
      healthCheck: { ...check([LISTENING]), retries: 4 },
      limits: { cpuMillis: 1500, memoryBytes: 64 * 1024 * 1024 },
      labels: { team: 'shop' },
      stopGracePeriod: '3s',
    })
    node.send([item])
    const { containerId } = await node.until(item, 'created', ({ containerId: id }) => id !== null)
    const found = await bare()
      .getContainer(containerId ?? '')
      .inspect()
    const network = tenantNetwork(node.tenant)
    expect(found.Name).toBe('/w.1')
    expect(found.Config.Env).toEqual(expect.arrayContaining(['COLOUR=blue sky', 'EMPTY=']))
    expect(found.Config.Healthcheck).toMatchObject({
      Test: ['CMD-SHELL', LISTENING],
      Interval: 5e9,
      Timeout: 1e10,
      Retries: 4,
    })
    expect(found.Config.Labels).toMatchObject({ team: 'shop', [ASSIGNMENT_LABEL]: item.assignmentId })
    expect(found.HostConfig).toMatchObject({
      CpuQuota: 150_000,
      CpuPeriod: 100_000,
      Memory: 67_108_864,
      PidsLimit: 1024,
    })
    expect(found.HostConfig.CapDrop).toEqual(['ALL'])
    expect(found.HostConfig.CapAdd?.map((name: string) => name.replace('CAP_', '')).toSorted()).toEqual([
      'CHOWN',
      'DAC_OVERRIDE',
      'FOWNER',
      'KILL',
      'NET_BIND_SERVICE',
      'SETGID',
      'SETUID',
    ])
    expect(found.HostConfig.RestartPolicy?.Name).toBe('unless-stopped')
    expect(Object.keys(found.NetworkSettings.Networks)).toEqual([network])
    const own = ownParts(item.template, [network], { volumes: '/volumes', cgroup: 'holdfast' })
    expect(findUnsafeSettings(JSON.parse(JSON.stringify(found)), own)).toEqual([])
  })

  it('resolves a deployment by its name from another container of the tenant', async () => {
    const { node } = await world().newNode()
    const [web, client] = [desiredItem(world().image), desiredItem(world().image, { name: 'client' })]
    node.send([web, client])
    await node.until(web, 'running', isUp)
    const { containerId } = await node.until(client, 'running', isUp)
    const reach = ['/bin/sh', '-c', 'nslookup web && echo x | nc -w 2 web 8080']
    await waitUntil(
      async () => (await node.engine.runProbe(containerId ?? '', reach, 10_000)).exitCode === 0,
      {
        what: 'web answers by its name',
      },
    )
  })

  it('reports a container as ready soon after its start, and never the output of a check that passed', async () => {
    const { node } = await world().newNode()
    const command = [`echo ${CANARY}; echo ${CANARY} >&2; ${LISTENING}`]
    // The engine's own health check would run only after ten minutes, so the agent's probe must find the container ready.
    const item = desiredItem(world().image, { healthCheck: { ...check(command), interval: '600s' } })
    node.send([item])
    await node.until(item, 'ready', ({ state }) => state === 'ready')
    expect(JSON.stringify(node.reports)).not.toContain(CANARY)
    expect(node.logged.join('')).not.toContain(CANARY)
  })

  it('does not report a container as ready while its check fails, and as unhealthy once the engine does', {
    timeout: 90_000,
  }, async () => {
    const { node } = await world().newNode()
    const failing = { ...check(['false']), interval: '1s', retries: 1 }
    const item = desiredItem(world().image, { healthCheck: failing })
    node.send([item])
    const seen = await node.until(item, 'unhealthy', ({ reason }) => reason === 'unhealthy')
    expect(seen.state).toBe('running')
    expect(node.reports.some(({ state }) => state === 'ready')).toBe(false)
  })

  it('kills a check that exceeds its timeout', { timeout: 90_000 }, async () => {
    const { node } = await world().newNode()
    const item = desiredItem(world().image, {})
    node.send([item])
    const { containerId } = await node.until(item, 'running', isUp)
    const id = containerId ?? ''
    expect((await node.engine.runProbe(id, ['sleep', '4321'], 300)).exitCode).toBeUndefined()
    const still = ['/bin/sh', '-c', 'ps | grep "[s]leep 4321"']
    await waitUntil(async () => (await node.engine.runProbe(id, still, 5000)).exitCode === 1, {
      what: 'the check is gone',
    })
  })

  it('counts exits, and restores containers that were stopped or removed by hand', async () => {
    const { node } = await world().newNode()
    const crashing = desiredItem(world().image, { name: 'crash', command: ['/bin/sh', '-c', 'exit 7'] })
    const web = desiredItem(world().image)
    node.send([crashing, web])
    const { containerId } = await node.until(web, 'running', isUp)
    await bare()
      .getContainer(containerId ?? '')
      .stop({ t: 0 })
    await node.until(
      web,
      'running again',
      ({ restarts, containerId: id }) => restarts === 1 && id === containerId,
    )
    await bare()
      .getContainer(containerId ?? '')
      .remove({ force: true })
    await node.until(
      web,
      'created again',
      (seen) => isUp(seen) && seen.containerId !== null && seen.containerId !== containerId,
    )
    await node.until(crashing, 'restarted', ({ restarts, exitCode }) => restarts >= 2 && exitCode === 7)
  })

  it('reports why a container cannot start', async () => {
    const { node } = await world().newNode()
    const item = desiredItem(world().image, { command: ['/no/such/program'] })
    const byTag = desiredItem(world().image, { name: 'tag', image: `${world().registry.host}/test/web:1` })
    node.send([item, byTag])
    await node.until(
      item,
      'not started',
      ({ state, reason }) => state === 'starting' && reason === 'start_failed',
    )
    await node.until(
      byTag,
      'refused',
      ({ state, reason }) => state === 'failed' && reason === 'refused_by_agent',
    )
    expect(await node.containersOf(byTag)).toEqual([])
    // An assignment whose container was never created can be removed.
    node.send([{ ...byTag, desired: 'removed' }], { complete: false })
    await node.until(byTag, 'gone', ({ gone }) => gone)
  })

  it('keeps its containers through a downgrade and an upgrade, and creates none with a part left out', async () => {
    const { node, agent } = await world().newNode()
    const checked = (name: string) =>
      desiredItem(world().image, { name, healthCheck: check([LISTENING]) }, { needs: ['health_check'] })
    const [kept, plain, later] = [checked('kept'), desiredItem(world().image), checked('later')]
    node.send([kept, plain])
    for (const item of [kept, plain]) await node.until(item, 'running', isUp)
    const ids = async () => (await Promise.all([kept, plain].map(node.containersOf))).flat()
    const before = await ids()
    await agent.close()
    const older = await node.start(undefined, undefined, { version: '0.0.9', capabilities: ['limits'] })
    const added = desiredItem(world().image, { name: 'added' }, { needs: ['limits'] })
    node.send([kept, plain, later, added])
    const refused = await node.until(later, 'refused', ({ reason }) => reason === 'agent_version')
    expect(refused).toMatchObject({ state: 'failed', containerId: null, gone: false })
    expect(refused.about).toBe('The agent lacks health_check; upgrade it.')
    await node.until(added, 'running', isUp)
    // An existing container is started again, because it was created with every part.
    await bare()
      .getContainer(before[0] ?? '')
      .stop({ t: 0 })
    await node.until(kept, 'started again', ({ restarts, state }) => restarts === 1 && state === 'ready')
    expect([await ids(), await node.containersOf(later)]).toEqual([before, []])
    await older.close()
    const upgraded = await node.start()
    node.send([kept, plain, later, added])
    await node.until(later, 'running', isUp)
    expect(await ids()).toEqual(before)
    await upgraded.close()
    await node.clear()
  })

  it('pulls a private image once the tenant has a credential', async () => {
    const { docker } = world()
    const login = { username: 'shop', password: 'correct-horse' }
    const guarded = await startRegistry({ address: docker.hostAddress, htpasswd: login })
    const { digest } = await guarded.pushBusyboxImage('test/private', '1', { page: line })
    const { node } = await world().newNode()
    const item = desiredItem(`${guarded.host}/test/private@${digest}`)
    node.send([item])
    await node.until(
      item,
      'not pulled',
      ({ state, reason }) => state === 'pulling' && reason === 'image_pull_failed',
    )
    node.credential = login
    await node.until(item, 'running', (seen) => isUp(seen) && seen.reason === '')
    expect(node.logged.join('') + JSON.stringify(node.reports)).not.toContain(login.password)
    await guarded.stop()
  })

  it('leaves foreign containers alone and avoids their names', async () => {
    const { node } = await world().newNode((engine) => ({
      ...engine,
      // Simulates another client that creates a container after the agent has listed all containers.
      listContainers: async () => (await engine.listContainers()).filter(({ name }) => name !== 'shop'),
    }))
    const foreign = await bare().createContainer({
      name: 'shop',
      Image: world().image,
      Labels: { [TENANT_LABEL]: node.tenant },
    })
    await foreign.start()
    const before = await foreign.inspect()
    const item = desiredItem(world().image, { name: 'shop' })
    node.send([item])
    const { containerId } = await node.until(item, 'running', isUp)
    expect(await nameOf(node, containerId)).toBe('shop.1')
    node.send([{ ...item, desired: 'removed' }])
    await node.until(item, 'gone', ({ gone }) => gone)
    const after = await foreign.inspect()
    expect([after.Id, after.State.StartedAt, after.State.Running]).toEqual([
      before.Id,
      before.State.StartedAt,
      true,
    ])
    await foreign.remove({ force: true })
  })

  it('adopts its own container when the name is already taken by it', async () => {
    let hidden = true
    const { node } = await world().newNode((engine) => ({
      ...engine,
      listContainers: async () => (hidden ? [] : engine.listContainers()),
    }))
    const item = desiredItem(world().image, { name: 'adopted' })
    await node.engine.createNetwork(tenantNetwork(node.tenant), {})
    const created = await node.engine.createContainer('adopted', containerSettings(item, node.tenant))
    node.send([item])
    const { containerId } = await node.until(item, 'running', isUp)
    hidden = false
    expect(containerId).toBe(created)
    expect(await node.containersOf(item)).toEqual([created])
  })

  it('adopts the container of an older agent by its labels, whatever its name, and keeps unknown owners', async () => {
    const { node } = await world().newNode()
    const item = desiredItem(world().image, { name: 'former' })
    const later = desiredItem(world().image, { name: 'later' }, { owner: asOwner('cron/cron_1') })
    await node.engine.createNetwork(tenantNetwork(node.tenant), {})
    const settings = containerSettings(item, node.tenant)
    const { 'holdfast.io/owner': _owner, 'holdfast.io/name': name = '', ...labels } = settings.Labels
    const Labels = {
      ...labels,
      'holdfast.io/deployment': deploymentUidOf(item.owner) ?? '',
      'holdfast.io/deployment-name': name,
    }
    const former = await node.engine.createContainer(`older-${node.tenant}`, { ...settings, Labels })
    const foreign = await node.engine.createContainer(
      `later-${node.tenant}`,
      containerSettings(later, node.tenant),
    )
    for (const id of [former, foreign]) await node.engine.startContainer(id)
    const started = (await bare().getContainer(former).inspect()).State.StartedAt
    node.send([item, { ...later, desired: 'removed' }])
    const { containerId } = await node.until(item, 'running', isUp)
    expect(containerId).toBe(former)
    node.send([{ ...item, desired: 'stopped' }], { complete: false })
    await node.until(item, 'stopped', ({ state }) => state === 'stopped')
    const after = await bare().getContainer(former).inspect()
    expect([after.State.StartedAt, after.State.Running]).toEqual([started, false])
    expect((await bare().getContainer(foreign).inspect()).State.Running).toBe(true)
    expect([await node.containersOf(item), await node.containersOf(later)]).toEqual([[former], [foreign]])
  })

  it('runs neither a container with unsafe settings nor two of one assignment', async () => {
    const { node } = await world().newNode()
    const item = desiredItem(world().image)
    const labels = containerSettings(item, node.tenant).Labels
    const host = {
      HostConfig: { Privileged: true, Binds: ['/:/host'] },
      Image: world().image,
      Labels: labels,
    }
    const unsafe = await bare().createContainer({ name: `unsafe-${node.tenant}`, ...host })
    node.send([item])
    const { containerId } = await node.until(item, 'running', isUp)
    expect(containerId).not.toBe(unsafe.id)
    const twin = await node.engine.createContainer(
      `twin-${node.tenant}`,
      containerSettings(item, node.tenant),
    )
    await node.engine.startContainer(twin)
    node.send([item])
    await waitUntil(async () => (await node.containersOf(item)).length === 1, { what: 'one is left' })
    expect([containerId, twin]).toContain((await node.containersOf(item))[0])
  })

  it('keeps a container that the operator pinned to a core, and logs it once', async () => {
    const { node } = await world().newNode()
    const item = desiredItem(world().image)
    node.send([item])
    const { containerId } = await node.until(item, 'running', isUp)
    const pinned = bare().getContainer(containerId ?? '')
    await pinned.update({ CpusetCpus: '0' })
    const warnings = () => node.logged.filter((one) => one.includes('container has unexpected settings'))
    // The agent inspects the container several times while it exits and restarts, but logs the warning only once.
    await pinned.stop({ t: 0 })
    await node.until(item, 'running again', ({ restarts }) => restarts === 1)
    expect(await node.containersOf(item)).toEqual([containerId])
    expect(warnings()).toHaveLength(1)
    expect(warnings()[0]).toContain('CpusetCpus')
  })
})
