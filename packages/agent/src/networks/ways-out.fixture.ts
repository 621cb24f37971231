// Targets outside a container network, one for each way out that a container may try, and the attempts to reach them. The
// targets count what arrives, because a container cannot see whether a datagram was delivered.

import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import { type StandaloneDockerEngine, waitUntil } from '@holdfast/testkit'
import { engineBinary } from '@holdfast/testkit/engines/engine-binaries'
import { namespaceFile } from '@holdfast/testkit/lab/lab-network'
import { runCommand } from '@holdfast/testkit/run-command'
import type Docker from 'dockerode'

/** The address of the metadata service of a cloud, which hands out credentials of the machine. */
const METADATA = '169.254.169.254'
const IPV6 = 'fd99::99'
const MACHINE_PORT = 18_080
/** Rounds of attempts at the same time. */
const AT_ONCE = 10

/** Ways to targets beyond the machine, and to the machine's own addresses on other interfaces. */
const BEYOND = ['tcp', 'udp', 'dns', 'icmp', 'ipv6', 'metadata'] as const
const TO_MACHINE = ['machine', 'docker0', 'bridge'] as const
const WAYS = [...BEYOND, ...TO_MACHINE]
export type Way = (typeof WAYS)[number]

export interface WaysOut {
  readonly beyond: readonly Way[]
  readonly toMachine: readonly Way[]
  /**
   * Tries every way so many times and returns those that led out. `run` runs a script in a container that the agent has
   * created on the network.
   */
  attempt(rounds: number, network: string, run: (script: string) => Promise<string>): Promise<Set<string>>
  close(): Promise<void>
}

export interface WaysOutOptions {
  /** The machine of the engine: an address beyond it, its own one, and its network namespace. */
  readonly machine: Pick<StandaloneDockerEngine, 'hostAddress' | 'address' | 'namespace'>
  readonly engine: Docker
  readonly image: string
  /** The name of another network of the engine, whose address on the machine is tried. */
  readonly otherNetwork: string
}

type Commands = { readonly [way in Way]?: string }

export async function openWaysOut(options: WaysOutOptions): Promise<WaysOut> {
  const { machine, engine, image } = options
  const host = machine.hostAddress
  const arrived = new Set<Way>()
  const [tcp, names] = await Promise.all([
    listenTcp(host, () => arrived.add('tcp')),
    listenForNames(host, (name) => arrived.add(name.startsWith('u') ? 'udp' : 'dns')),
  ])
  const service = await startOnMachine(engine, image)
  const metadata = redirect(machine.namespace, METADATA, `${host}:${tcp.port}`)
  const [docker0, bridge] = await Promise.all(
    ['bridge', options.otherNetwork].map((name) => gatewayOf(engine, name)),
  )
  const connect = (address: string | undefined): string => `nc -w 1 ${address} ${MACHINE_PORT}`
  const commands: Commands = {
    tcp: `nc -w 1 ${host} ${tcp.port}`,
    udp: `nslookup u$n.example.org ${host}`,
    // The engine's name server may forward a question from outside the network of the container.
    dns: 'nslookup d$n.example.org',
    ipv6: connect(IPV6),
    machine: connect(machine.address),
    docker0: connect(docker0),
    bridge: connect(bridge),
    metadata: `nc -w 1 ${METADATA} 80`,
  }
  // The containers of the agent may not send packets of this protocol at all, so another one tries.
  const asRoot: Commands = { icmp: `busybox ping -c 1 -W 1 ${host}` }
  return {
    beyond: BEYOND,
    toMachine: TO_MACHINE,
    async attempt(rounds, network, run) {
      arrived.clear()
      const printed = await Promise.all([
        run(scriptOf(commands, rounds)),
        runBeside(engine, image, network, scriptOf(asRoot, rounds)),
      ])
      for (const text of printed)
        if (!text.includes(`rounds: ${rounds}`)) throw new Error(`The attempts did not end: ${text}`)
      const lines = printed.join('\n').split(/\r?\n/)
      return new Set([...WAYS.filter((way) => lines.includes(way)), ...arrived])
    },
    async close() {
      for (const server of [tcp, names, metadata]) server.close()
      await service.remove()
    },
  }
}

/**
 * A script that tries every way so many times and prints each way that led out. An engine may drop packets without an
 * answer, so that each attempt waits; many run at the same time.
 */
function scriptOf(commands: Commands, rounds: number): string {
  const tries = Object.entries(commands).map(
    ([way, command]) => `( echo x | ${command} >/dev/null 2>&1 && echo ${way} ) &`,
  )
  const pause = `[ $((n % ${AT_ONCE})) -gt 0 ] || wait`
  const loop = `n=0; while [ $n -lt ${rounds} ]; do n=$((n+1)); ${tries.join(' ')} ${pause}; done; wait`
  return `{ ${loop}; echo "rounds: $n"; } | busybox sort -u`
}

/** Runs a script in a container of its own on the network, which may send packets of any protocol. */
async function runBeside(engine: Docker, image: string, network: string, script: string): Promise<string> {
  const container = await engine.createContainer({
    Image: image,
    Cmd: ['/bin/sh', '-c', script],
    Tty: true,
    HostConfig: { NetworkMode: network, CapAdd: ['NET_RAW'] },
  })
  try {
    await container.start()
    await container.wait()
    return (await container.logs({ stdout: true, stderr: true })).toString()
  } finally {
    await container.remove({ force: true })
  }
}

/** Packets to the address leave the machine towards the target, as those to the metadata service of a cloud do. */
function redirect(namespace: string, address: string, target: string) {
  const change = (how: '-A' | '-D'): void => {
    const rule = ['PREROUTING', '-p', 'tcp', '-d', address, '-j', 'DNAT', '--to-destination', target]
    const iptables = [engineBinary('iptables'), '--wait', '-t', 'nat', how, ...rule]
    runCommand(engineBinary('nsenter'), [`--net=${namespaceFile(namespace)}`, ...iptables])
  }
  change('-A')
  return { close: () => change('-D') }
}

/** A service of the machine that listens at all its addresses, one of IPv6 among them. */
async function startOnMachine(engine: Docker, image: string) {
  const set = (change: string) => `ip -6 addr ${change} ${IPV6}/128 dev lo`
  const script = `trap '${set('del')}; exit 0' TERM; ${set('add')}; httpd -f -p [::]:${MACHINE_PORT} -h /www & wait`
  const container = await engine.createContainer({
    Image: image,
    Cmd: ['/bin/sh', '-c', script],
    HostConfig: { NetworkMode: 'host', CapAdd: ['NET_ADMIN'] },
  })
  await container.start()
  const listens = async (): Promise<boolean> => {
    const probe = `echo x | nc -w 1 ${IPV6} ${MACHINE_PORT}`
    const exec = await container.exec({ Cmd: ['/bin/sh', '-c', probe] })
    await exec.start({ Detach: true })
    const { ExitCode } = await waitUntil(
      async () => {
        const seen = await exec.inspect()
        return seen.Running ? undefined : seen
      },
      { what: 'the probe has ended' },
    )
    return ExitCode === 0
  }
  await waitUntil(listens, { what: 'the machine serves its own addresses' })
  return {
    async remove() {
      await container.stop({ t: 10 })
      await container.remove({ force: true })
    },
  }
}

/** The machine's address on a network: the first one of its subnet, by default. */
async function gatewayOf(engine: Docker, network: string): Promise<string> {
  const { IPAM } = await engine.getNetwork(network).inspect()
  const [config] = IPAM?.Config ?? []
  const [subnet] = config?.['Subnet']?.split('/') ?? []
  if (subnet === undefined) throw new Error(`The network ${network} has no subnet.`)
  return subnet.replace(/\d+$/, (last) => String(Number(last) + 1))
}

function listenTcp(address: string, onArrival: () => void) {
  const server = createServer((socket) => {
    onArrival()
    socket.on('error', () => {})
    socket.end()
  })
  return new Promise<{ port: number; close(): void }>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, address, () => {
      const bound = server.address()
      const port = typeof bound === 'object' && bound !== null ? bound.port : 0
      resolve({ port, close: () => server.close() })
    })
  })
}

/** A name server that knows no name. Its answer is the question, marked as an answer with the code for an unknown name. */
function listenForNames(address: string, onQuestion: (name: string) => void) {
  const socket = createSocket('udp4', (question, from) => {
    // The first label of the name follows the header of 12 bytes and its own length.
    onQuestion(question.subarray(13, 13 + (question[12] ?? 0)).toString())
    const answer = Buffer.from(question)
    answer.writeUInt16BE(0x81_83, 2)
    socket.send(answer, from.port, from.address)
  })
  return new Promise<{ close(): void }>((resolve, reject) => {
    socket.once('error', reject)
    socket.bind(53, address, () => resolve({ close: () => socket.close() }))
  })
}
