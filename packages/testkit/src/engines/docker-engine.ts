// One Docker Engine with a separate containerd, as under systemd: dockerd or containerd can be killed while containers
// keep running.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { env } from 'node:process'
import { killCgroup } from '../lab/cgroup-tree.ts'
import { LAB_ADDRESSES } from '../lab/lab-network.ts'
import { type LabPlace, startInPlace } from '../lab/lab-place.ts'
import { engineBinary } from './engine-binaries.ts'
import { waitUntilReady } from './engine-home.ts'
import type { EngineProcess } from './engine-process.ts'

/** Line of Docker versions: `old` is 20.10 from Debian, `new` is version 29, built by bootstrap. */
export type DockerLine = 'old' | 'new'

export interface DockerEngine {
  readonly line: DockerLine
  readonly socketPath: string
  /** The newest API version that the engine supports: 1.41 or 1.56. */
  readonly apiVersion: string
  readonly folder: string
  /** The cgroup below which containers run: a path below the root of each hierarchy. It is emptied with the engine. */
  readonly cgroup: string
  /** Process id of the current dockerd; changes when dockerd is restarted. */
  readonly pid: number
  /** Kills dockerd with SIGKILL; containerd and the containers keep running. */
  kill(): Promise<void>
  /** Sends SIGSTOP to dockerd, which then accepts connections and answers nothing. */
  pause(): void
  resume(): void
  /** Ends dockerd by SIGTERM, and then every container. */
  end(): Promise<void>
  /** Starts a killed dockerd and containerd, or restarts a running dockerd; resolves when dockerd answers. */
  restart(): Promise<void>
  /** Kills containerd with SIGKILL; dockerd and the containers keep running. */
  killContainerd(): Promise<void>
  /** Kills a running containerd and starts it again. */
  restartContainerd(): Promise<void>
}

export interface EngineSettings {
  /** Address of a registry that the engine uses over plain HTTP, like every registry of a lab. */
  readonly registry?: string
  /** True for an engine in a Swarm. Containers then die with dockerd, because Docker forbids live restore in a Swarm. */
  readonly swarm?: boolean
}

interface Binaries {
  readonly dockerd: string
  readonly containerd: string
}

export async function launchDockerEngine(
  place: LabPlace,
  line: DockerLine,
  settings: EngineSettings = {},
): Promise<DockerEngine> {
  const files = writeFiles(place, line)
  const binaries = binariesOf(line)
  // dockerd starts after containerd, as under systemd: dockerd exits if containerd's socket exists without a listener.
  const startContainerd = async () => {
    rmSync(files.containerdSocket, { force: true })
    const started = start(place, binaries.containerd, 'containerd', ['--config', files.containerdConfig])
    await waitUntilReady(started, 'containerd listens', () => listens(files.containerdSocket))
    return started
  }
  const startDockerd = () => {
    // A killed dockerd leaves its pid file, and the process id in the file may belong to another process now.
    rmSync(files.pidFile, { force: true })
    return start(place, binaries.dockerd, 'dockerd', dockerdFlags(place, files, settings))
  }
  let containerd = await startContainerd()
  let dockerd = startDockerd()
  const ready = () => waitForPing(dockerd, files.socketPath)
  const apiVersion = await ready()
  return {
    line,
    socketPath: files.socketPath,
    apiVersion,
    folder: place.folder,
    cgroup: containersOf(place),
    get pid() {
      return dockerd.pid
    },
    kill: () => dockerd.kill(),
    pause: () => dockerd.pause(),
    resume: () => dockerd.resume(),
    end: async () => {
      await dockerd.terminate()
      killCgroup(containersOf(place))
    },
    restart: async () => {
      await dockerd.kill()
      if (containerd.hasExited()) containerd = await startContainerd()
      dockerd = startDockerd()
      await ready()
    },
    killContainerd: () => containerd.kill(),
    restartContainerd: async () => {
      await containerd.kill()
      containerd = await startContainerd()
    },
  }
}

const containersOf = ({ cgroup }: LabPlace): string => `${cgroup}/containers`

function binariesOf(line: DockerLine): Binaries {
  return line === 'new'
    ? { dockerd: engineBinary('dockerd-29'), containerd: engineBinary('containerd-29') }
    : { dockerd: engineBinary('dockerd'), containerd: engineBinary('containerd') }
}

type EngineFiles = ReturnType<typeof writeFiles>

/** Writes the files of the engine. Like /var/lib and /run of a machine, `lib` survives a power cut and `run` does not. */
function writeFiles(place: LabPlace, line: DockerLine) {
  const at = (...parts: string[]) => join(place.folder, ...parts)
  for (const name of ['lib', 'run', 'tmp']) mkdirSync(at(name), { recursive: true, mode: 0o711 })
  const files = {
    containerdConfig: at('containerd.toml'),
    containerdSocket: at('run', 'containerd.sock'),
    dockerdConfig: at('daemon.json'),
    socketPath: at('run', 'docker.sock'),
    pidFile: at('run', 'docker.pid'),
    execRoot: at('run', 'docker'),
    dataRoot: at('lib', 'docker'),
  }
  // The engine has its own configuration file, because /etc/docker/daemon.json belongs to the machine. The old engine
  // derives its id from a key file.
  const config = line === 'old' ? { 'deprecated-key-path': at('lib', 'key.json') } : {}
  writeFileSync(files.dockerdConfig, JSON.stringify(config))
  writeFileSync(files.containerdConfig, containerdConfig(place, files.containerdSocket))
  return files
}

/** Configuration of containerd without the plugins that use a path shared by the whole machine. */
function containerdConfig(place: LabPlace, socket: string): string {
  const disabled = ['io.containerd.grpc.v1.cri', 'io.containerd.nri.v1.nri', 'io.containerd.internal.v1.opt']
  return [
    'version = 2',
    `root = ${JSON.stringify(join(place.folder, 'lib', 'containerd'))}`,
    `state = ${JSON.stringify(join(place.folder, 'run', 'containerd'))}`,
    `disabled_plugins = ${JSON.stringify(disabled)}`,
    '[grpc]',
    `address = ${JSON.stringify(socket)}`,
    '',
  ].join('\n')
}

function dockerdFlags(place: LabPlace, files: EngineFiles, settings: EngineSettings): string[] {
  const registries = [LAB_ADDRESSES, ...(settings.registry === undefined ? [] : [settings.registry])]
  return [
    '--config-file',
    files.dockerdConfig,
    '--host',
    `unix://${files.socketPath}`,
    '--pidfile',
    files.pidFile,
    '--data-root',
    files.dataRoot,
    '--exec-root',
    files.execRoot,
    '--containerd',
    files.containerdSocket,
    '--bip',
    `172.30.${place.index}.1/24`,
    ...(settings.swarm === true ? [] : ['--live-restore']),
    // Containers are always below the node's own cgroup, even with systemd, so that they are found when the node is
    // ended.
    '--exec-opt',
    'native.cgroupdriver=cgroupfs',
    '--cgroup-parent',
    `/${containersOf(place)}`,
    ...registries.flatMap((registry) => ['--insecure-registry', registry]),
  ]
}

function start(place: LabPlace, binary: string, name: string, args: readonly string[]): EngineProcess {
  const PATH = `${dirname(binary)}:${env.PATH ?? ''}:/usr/sbin:/usr/bin:/sbin:/bin`
  const logFile = join(place.folder, `${name}.log`)
  // dockerd must not use the proxy of the environment, because the proxy cannot reach a lab.
  const variables = {
    PATH,
    TMPDIR: join(place.folder, 'tmp'),
    NO_PROXY: LAB_ADDRESSES,
    no_proxy: LAB_ADDRESSES,
  }
  return startInPlace(place, { binary, args, logFile, env: variables })
}

function listens(socketPath: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const dialled = connect(socketPath, () => {
      dialled.destroy()
      resolve(true)
    })
    dialled.once('error', reject)
  })
}

async function waitForPing(dockerd: EngineProcess, socketPath: string): Promise<string> {
  let version = ''
  await waitUntilReady(dockerd, 'the Docker Engine answers', async () => {
    version = await ping(socketPath)
    return version !== ''
  })
  return version
}

/** Pings the engine and returns the API version in its response. */
function ping(socketPath: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path: '/_ping', timeout: 2_000 }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200 ? String(answer.headers['api-version'] ?? '') : '')
    })
    sent.once('timeout', () => sent.destroy(new Error('the engine did not answer within 2 s')))
    sent.once('error', reject)
    sent.end()
  })
}
