// The pure parts of routing: which replicas are routed to, which addresses are assigned, and that no request reaches a
// container of another deployment.

import {
  type AssignmentId,
  asAssignmentId,
  type DeploymentUid,
  decode,
  ownerOf,
  type RoutedDeployment,
  routedDeploymentShape,
} from '@holdfast/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildConfig } from '../adapters/caddy/build-config.ts'
import { matchersOf } from '../adapters/caddy/match-routes.ts'
import { newKeys } from '../adapters/caddy/secure-peers.fixture.ts'
import { upstreamLine } from '../adapters/caddy/upstream-files.ts'
import type { Backend, PeerRouter } from '../ports/router.ts'
import { type Addresses, createAddresses } from './addresses.ts'
import { coalesce } from './coalesce.ts'
import { holdReady } from './hold-ready.ts'
import { type LocalReplica, planBackends, type RoutingFacts } from './plan-backends.ts'
import { createRouteTable } from './route-table.ts'
import { chooseSubnet, machineRanges, readRange } from './subnets.ts'

const UIDS = ['dep_1', 'dep_2', 'dep_3'] as unknown as readonly DeploymentUid[]
const routed = (at: number, over: object = {}): RoutedDeployment =>
  decode(routedDeploymentShape, {
    deployment: UIDS[at],
    name: `web${at}`,
    routes: [{ host: `web${at}.test`, path: '/', port: 8080 }],
    peers: [],
    ...over,
  })
const replica = (at: number, address: string | undefined, state: LocalReplica['state'] = 'serves') => ({
  owner: ownerOf('deployment', UIDS[at] ?? fail()),
  assignmentId: asAssignmentId(`rep_${address}`),
  run: address === undefined ? undefined : `c-${address}`,
  address,
  state,
})
const fail = (): never => {
  throw new Error('no such deployment')
}
const facts = (over: Partial<RoutingFacts>): RoutingFacts => ({
  table: [routed(0)],
  replicas: [],
  upstreams: new Map(),
  withdrawn: new Map(),
  ...over,
})
const localOf = (over: Partial<RoutingFacts>): readonly string[] => planBackends(facts(over))[0]?.local ?? []

describe('planning the backends of a deployment', () => {
  const before = new Map([['web0', ['10.208.0.2', '10.208.0.3']]])
  test.each<[string, Partial<RoutingFacts>, string[]]>([
    ['routes to a serving replica', { replicas: [replica(0, '10.208.0.2')] }, ['10.208.0.2']],
    [
      'does not route to an unready replica',
      { replicas: [replica(0, '10.208.0.2', 'out')], upstreams: before },
      [],
    ],
    ["does not route to another deployment's replica", { replicas: [replica(1, '10.208.0.2')] }, []],
    [
      'keeps routing to an unverified replica that was routed to',
      { replicas: [replica(0, '10.208.0.2', 'unverified')], upstreams: before },
      ['10.208.0.2'],
    ],
    [
      'does not route to an unverified replica that was not routed to',
      { replicas: [replica(0, '10.208.0.9', 'unverified')], upstreams: before },
      [],
    ],
    [
      'keeps all upstreams while no container was observed',
      { replicas: [replica(0, undefined, 'unverified')], upstreams: before },
      ['10.208.0.2', '10.208.0.3'],
    ],
    [
      "keeps the upstreams except an address that is another deployment's now",
      { replicas: [replica(0, undefined, 'unverified'), replica(1, '10.208.0.3')], upstreams: before },
      ['10.208.0.2'],
    ],
    [
      'does not route to a withdrawn replica',
      { replicas: [replica(0, '10.208.0.2')], withdrawn: new Map([['10.208.0.2', 'c-10.208.0.2']]) },
      [],
    ],
    [
      'routes to the next holder of a withdrawn address',
      { replicas: [replica(0, '10.208.0.2')], withdrawn: new Map([['10.208.0.2', 'old']]) },
      ['10.208.0.2'],
    ],
    [
      'does not route to an unready replica while another was not observed yet',
      { replicas: [replica(0, '10.208.0.2', 'out'), replica(0, undefined, 'unverified')], upstreams: before },
      ['10.208.0.3'],
    ],
    [
      'does not route to a withdrawn replica while another was not observed yet',
      {
        replicas: [replica(0, undefined, 'unverified')],
        upstreams: before,
        withdrawn: new Map([['10.208.0.2', 'old']]),
      },
      ['10.208.0.3'],
    ],
    ['ignores a malformed address', { replicas: [replica(0, '{env.X}')] }, []],
  ])('%s', (_, given, expected) => {
    expect(localOf(given)).toEqual(expected)
  })

  test('omits names, hosts, paths and peers that admission would reject', () => {
    const bad = ['*.test', 'a{b}.test', 'A.test', ''].map((host) => ({ host, path: '/', port: 80 }))
    const paths = ['/a*', '/{x}', 'a', '/a//b', '/a/'].map((path) => ({ host: 'a.test', path, port: 80 }))
    const table = [
      routed(0, {
        routes: [...bad, ...paths],
        peers: ['x:1/y', '{x}:1', '127.0.0.1:80', '[::1]:80', 'n1:8081'],
      }),
    ]
    expect(planBackends(facts({ table }))).toMatchObject([{ routes: [], peers: ['n1:8081'] }])
    expect(planBackends(facts({ table: [routed(0, { name: 'a.b' })] }))).toEqual([])
  })

  test('the later of two deployments with the same name gets the routes', () => {
    const table = [routed(1, { name: 'web' }), routed(0, { name: 'web' })]
    expect(planBackends(facts({ table, replicas: [replica(0, '10.208.0.2')] }))).toMatchObject([
      { local: [] },
    ])
  })
})

/** Assigns an address; undefined if no address is free. */
function tryAssign(assigned: Addresses, holder: AssignmentId): string | undefined {
  try {
    return assigned.assign(holder)
  } catch {
    return undefined
  }
}

/** One step of a random history of containers on a node: a container, the agent or the router's upstreams change. */
interface Step {
  readonly kind: (typeof STEPS)[number]
  /** Number of the replica that the step concerns, one of six. */
  readonly of: number
}
const STEPS = ['create', 'ready', 'unready', 'end', 'kill', 'list', 'apply', 'restart'] as const
const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...STEPS),
  of: fc.nat({ max: 5 }),
})

test('never routes to a container of another deployment or to one that is not ready', () => {
  fc.assert(
    fc.property(fc.array(stepArbitrary, { maxLength: 80, size: 'max' }), (steps) => {
      let containers = new Map<number, { address: string; id: string; state: LocalReplica['state'] }>()
      let upstreams: ReadonlyMap<string, readonly string[]> = new Map()
      let withdrawn = new Map<string, string>()
      const newAddresses = () => {
        const created = createAddresses((address) => [...upstreams.values()].flat().includes(address))
        created.setSubnet('10.208.0.0/28')
        return created
      }
      let assigned = newAddresses()
      let count = 0
      const id = (of: number) => `rep_${of}` as unknown as AssignmentId
      const owner = (of: number) => of % 3
      const apply = () => {
        const table = [0, 1, 2].map((at) => routed(at))
        const replicas = [...containers].map(([of, { address, id: run, state }]) => ({
          owner: ownerOf('deployment', UIDS[owner(of)] ?? fail()),
          assignmentId: id(of),
          run,
          address,
          state,
        }))
        upstreams = new Map(
          planBackends({ table, replicas, upstreams, withdrawn }).map(({ name, local }) => [name, local]),
        )
      }
      for (const step of steps) {
        if (step.kind === 'list')
          assigned.setSeen(
            [...containers.values()].map(({ address }) => address),
            () => true,
          )
        else if (step.kind === 'restart') {
          // The restarted agent knows only the containers that the engine lists and the upstreams that the router saved.
          assigned = newAddresses()
          assigned.setSeen(
            [...containers.values()].map(({ address }) => address),
            () => true,
          )
          withdrawn = new Map()
          containers = new Map(
            [...containers].map(([of, one]) => [
              of,
              { ...one, state: one.state === 'out' ? 'out' : 'unverified' },
            ]),
          )
        } else {
          const one = containers.get(step.of)
          if (step.kind === 'create' && one === undefined) {
            const address = tryAssign(assigned, id(step.of))
            count += 1
            if (address !== undefined) containers.set(step.of, { address, id: `c${count}`, state: 'out' })
          } else if (one !== undefined && step.kind === 'ready')
            containers.set(step.of, { ...one, state: 'serves' })
          else if (one !== undefined && step.kind === 'unready')
            containers.set(step.of, { ...one, state: 'out' })
          else if (one !== undefined && step.kind === 'end') {
            withdrawn.set(one.address, one.id)
            apply()
            containers.delete(step.of)
            assigned.release(id(step.of))
          } else if (one !== undefined && step.kind === 'kill') {
            // Another client removes the container, without a drain.
            containers.delete(step.of)
            assigned.release(id(step.of))
          }
        }
        if (step.kind === 'apply') apply()
        const addresses = [...containers.values()].map(({ address }) => address)
        expect(new Set(addresses).size).toBe(addresses.length)
        // A router that lags behind may route to a replica that was ready before, but never to another deployment's
        // replica.
        for (const [of, { address, state }] of containers)
          for (const [name, routedTo] of upstreams)
            if (routedTo.includes(address))
              expect([name, step.kind === 'apply' && state === 'out']).toEqual([`web${owner(of)}`, false])
      }
    }),
    { numRuns: 2000 },
  )
})

describe('container addresses', () => {
  const id = (name: string) => `rep_${name}` as unknown as AssignmentId
  test('assigns the lowest free address, the same one again to its holder, and none that is in use or routed to', () => {
    const assigned = createAddresses((address) => address === '10.208.0.3')
    expect(assigned.assign(id('a'))).toBeUndefined()
    assigned.setSubnet('10.208.0.0/29')
    assigned.setSeen(['10.208.0.2'], () => true)
    expect([assigned.assign(id('a')), assigned.assign(id('a')), assigned.assign(id('b'))]).toEqual([
      '10.208.0.4',
      '10.208.0.4',
      '10.208.0.5',
    ])
    expect(assigned.assign(id('c'))).toBe('10.208.0.6')
    expect(() => assigned.assign(id('d'))).toThrow('No address')
    assigned.release(id('a'))
    expect(assigned.assign(id('d'))).toBe('10.208.0.4')
    assigned.setSeen([], (holder) => holder === id('d'))
    expect([assigned.assign(id('e')), assigned.assign(id('f'))]).toEqual(['10.208.0.2', '10.208.0.5'])
  })

  test('chooses a subnet that overlaps with no other', () => {
    const ranges = (...texts: string[]) => texts.flatMap((text) => readRange(text) ?? [])
    expect(chooseSubnet([])).toBe('10.208.0.0/22')
    expect(chooseSubnet(ranges('10.208.1.5/32', '10.208.8.0/21', '172.17.0.0/16'))).toBe('10.208.4.0/22')
    expect(chooseSubnet(ranges('10.0.0.0/8'))).toBeUndefined()
    expect(readRange('fd00::/8')).toBeUndefined()
    const table =
      'Iface Destination Gateway Flags RefCnt Use Metric Mask\neth0 00000000 0 0 0 0 0 00000000\neth0 0000D00A 0 0 0 0 0 00FCFFFF\n'
    expect(chooseSubnet(machineRanges(table))).toBe('10.208.4.0/22')
  })
})

describe('the configuration of Caddy', () => {
  const settings = {
    listen: [':80'],
    peerListen: ':8081',
    adminSocket: '/run/admin.sock',
    upstreamsFolder: '/upstreams',
    tls: { mode: 'off' as const },
  }
  const backend = (name: string, over: Partial<Backend> = {}): Backend => ({
    name,
    routes: [{ host: 'x.test', path: '/', port: 80 }],
    local: [],
    peers: [],
    ...over,
  })
  const at = (path: string, port = 80) => ({ host: 'x.test', path, port })

  test('gives a request to the longer of two matching paths, in any order of deployments', () => {
    const matchers = matchersOf([
      backend('a', { routes: [at('/'), at('/api/v2')] }),
      backend('b', { routes: [at('/api'), at('/API/V2')] }),
    ])
    expect(matchers.get('a')).toEqual([
      { host: ['x.test'], not: [{ path: ['/api', '/api/*'] }] },
      { host: ['x.test'], path: ['/api/v2', '/api/v2/*'] },
    ])
    expect(matchers.get('b')).toEqual([
      { host: ['x.test'], path: ['/api', '/api/*'], not: [{ path: ['/api/v2', '/api/v2/*'] }] },
    ])
  })

  test('repeats the upstreams in a line evenly', () => {
    const local = ['10.208.0.2', '10.208.0.3']
    expect(upstreamLine(backend('a', { local }), 80).split(' ')).toHaveLength(13)
    const many = Array.from({ length: 20 }, (_, index) => `10.208.0.${index}`)
    const [room, ...places] = upstreamLine(backend('a', { local: many }), 80).split(' ')
    expect([room, places.length, new Set(places).size]).toEqual(['here60', 60, 20])
    expect(upstreamLine(backend('a', { peers: ['n:1'] }), 80)).toMatch(/^away12 n:1 /)
    expect(upstreamLine(backend('a'), 80)).toBe('none')
    expect(upstreamLine(backend('a', { securePeers: ['n:2'] }), 80)).toBe(`safe12${' n:2'.repeat(12)}`)
    const both = upstreamLine(backend('a', { peers: ['n:1'], securePeers: ['n:2'] }), 80)
    expect(both).toBe(`both12${' n:2'.repeat(12)}${' n:1'.repeat(12)}`)
  })

  test('depends on the routes only, not on the replicas that serve them', () => {
    const one = buildConfig(settings, [backend('a', { local: ['10.208.0.2'] })])
    expect(buildConfig(settings, [backend('a', { peers: ['n:1'] })])).toEqual(one)
    expect(buildConfig(settings, [backend('b')]).version).not.toBe(one.version)
    const { admin, apps } = JSON.parse(one.text)
    expect(admin).toEqual({
      '@id': one.version,
      listen: 'unix//run/admin.sock|0600',
      config: { persist: false },
    })
    const ids = apps.http.servers.edge.routes.flatMap((route: object) =>
      '@id' in route ? [route['@id']] : [],
    )
    expect(ids).toEqual(['a'])
  })

  // Each change of the configuration reloads Caddy, which can reset connections while a node is updated.
  test('knows nothing of TLS between routers if none has a certificate', () => {
    const { text } = buildConfig({ ...settings, listen: [':80'], tls: { mode: 'off' } }, [backend('a')])
    expect(text).not.toMatch(/tls|safe|both/)
  })

  describe('with certificates of other routers', () => {
    const { key, certificate } = newKeys()
    const other = newKeys()
    const peer = { plainAddress: 'n:1', address: 'n:2', name: other.name, certificates: [other.base64] }
    const secure = { ...settings, securePeerListen: ':7843' }
    const config = (
      acceptPlain: boolean,
      peers: readonly PeerRouter[] = [peer],
      tls: Parameters<typeof buildConfig>[0]['tls'] = { mode: 'off' },
    ) => {
      const security = { identity: { key, certificate }, acceptPlain, peers }
      const { text } = buildConfig({ ...secure, tls, listen: [':80'] }, [backend('a')], security)
      expect(text).not.toContain(key.slice(40, 80))
      return { text, ...JSON.parse(text).apps }
    }

    test('requires one of exactly these certificates on the port for other nodes', () => {
      const { http } = config(false)
      expect(http.servers.peers).toMatchObject({ listen: [':7843'], protocols: ['h1'] })
      const [policy, ...others] = http.servers.peers.tls_connection_policies
      const loader = { loader: 'pem', certificates: [other.certificate] }
      expect(policy.client_authentication).toEqual({
        mode: 'require',
        verifiers: [{ verifier: 'leaf', leaf_certs_loaders: [loader] }],
      })
      expect([policy.match, others]).toEqual([undefined, []])
    })

    test('listens for plain HTTP of other nodes only while it is accepted', () => {
      expect(config(true).http.servers.edge.listen).toEqual([':80', ':8081'])
      expect(config(false).http.servers.edge.listen).toEqual([':80'])
      expect(config(false).text).not.toContain(':8081')
      expect(config(false, [peer], { mode: 'internal' }).http.http_port).toBe(80)
    })

    test('opens no port for other nodes without a known certificate', () => {
      for (const peers of [[], [{ ...peer, certificates: [] }]]) {
        const { http, text } = config(false, peers)
        expect(Object.keys(http.servers)).toEqual(['edge'])
        expect(text).not.toContain('safe12')
      }
    })

    test('names the certificate of each peer by its address', () => {
      const sender = { ...peer, plainAddress: 'm:1', address: undefined }
      const routes: { match?: unknown; handle: object[] }[] = config(true, [peer, sender]).http.servers.edge
        .routes
      const maps = routes.flatMap(({ handle }) => handle.filter((one) => 'mappings' in one))
      const mappings = [{ input: 'n:2', outputs: [other.name] }]
      expect(maps).toMatchObject([{ mappings }, { mappings }])
    })

    test('changes with the identity, with the peers and with the end of plain HTTP', () => {
      const base = config(true).text
      expect(config(true).text).toBe(base)
      expect(config(false).text).not.toBe(base)
      expect(config(true, [{ ...peer, certificates: [newKeys().base64] }]).text).not.toBe(base)
    })
  })

  test('redirects plain ports to TLS and serves peers without TLS', () => {
    const config = (tls: Parameters<typeof buildConfig>[0]['tls']) =>
      JSON.parse(buildConfig({ ...settings, listen: [':80', ':443'], tls }, [backend('a')]).text).apps
    const { http, tls } = config({ mode: 'acme', directory: 'https://ca.test/dir', email: 'a@b.test' })
    expect(http).toMatchObject({ http_port: 8081, https_port: 443 })
    expect(http.servers.edge.listen).toEqual([':443', ':8081'])
    expect(http.servers.plain.listen).toEqual([':80'])
    expect(tls.automation.policies).toEqual([
      { issuers: [{ module: 'acme', ca: 'https://ca.test/dir', email: 'a@b.test' }] },
    ])
    expect(config({ mode: 'internal' }).tls.automation.policies).toEqual([
      { issuers: [{ module: 'internal' }] },
    ])
  })
})

test('a route table accepts complete sets and changes, and keeps its routes if a set contains none', () => {
  const table = createRouteTable()
  const names = () => table.all()?.map(({ name }) => name)
  table.apply({ complete: true })
  expect(names()).toBeUndefined()
  table.apply({ complete: true, routes: [routed(0), routed(1)] })
  table.apply({ complete: false, routes: [routed(2)], unrouted: ['dep_1'] })
  expect(names()).toEqual(['web1', 'web2'])
  table.apply({ complete: true })
  expect(names()).toEqual(['web1', 'web2'])
  table.apply({ complete: true, routes: [] })
  expect(names()).toEqual([])
})

test('coalesced work that is requested during a run runs once more for all callers', async () => {
  let runs = 0
  const gates: (() => void)[] = []
  const run = coalesce(async () => {
    runs += 1
    await new Promise<void>((resolve) => gates.push(resolve))
  })
  const [first, second, third] = [run(), run(), run()]
  gates.shift()?.()
  await first
  await Promise.resolve()
  expect(runs).toBe(2)
  gates.shift()?.()
  await Promise.all([second, third])
  expect(runs).toBe(2)
})

test('ready is reported once the router serves the replica, and never after a newer report', async () => {
  const reported: string[] = []
  let apply = () => {}
  const router = {
    nudge() {},
    applied: () =>
      new Promise<void>((resolve) => {
        apply = resolve
      }),
  }
  const seen = (assignment: string, seq: number, state: 'ready' | 'running' = 'ready', reason = '') => ({
    assignmentId: assignment as unknown as AssignmentId,
    seq,
    state,
    reason,
    generation: 1,
    containerId: 'c',
    startedAt: null,
    exitCode: null,
    restarts: 0,
    gone: false,
  })
  const report = holdReady(
    router,
    (id) => String(id) !== 'free',
    (batch) => reported.push(...batch.map(({ assignmentId, seq }) => `${assignmentId} ${seq}`)),
  )
  report([seen('free', 1), seen('web', 2), seen('web2', 3, 'running')])
  expect(reported).toEqual(['free 1', 'web2 3'])
  apply()
  await new Promise(setImmediate)
  expect(reported).toEqual(['free 1', 'web2 3', 'web 2'])
  report([seen('web', 4)])
  report([seen('web', 5, 'ready', 'unhealthy')])
  apply()
  await new Promise(setImmediate)
  expect(reported.slice(3)).toEqual(['web 5'])
})
