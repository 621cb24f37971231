// A container that writes a volume, registered with a fencer, on an engine that the test may stop.

import { join } from 'node:path'
import type { DesiredItem } from '@holdfast/contract'
import type { StandaloneDockerEngine } from '@holdfast/testkit'
import { waitUntil } from '@holdfast/testkit'
import Docker from 'dockerode'
import { freezerRoot } from '../adapters/kernel/writer-cgroups.ts'
import { desiredItem, isUp, type TestNode } from '../fixtures/agent.fixture.ts'
import { mountOf, startVolumes, type TestVolumes } from '../fixtures/volumes.fixture.ts'
import { bootClockMs } from './boot-clock.ts'
import { type FencerProcess, groupOf, startFencer, writesIn, writing } from './fencer.fixture.ts'

export interface FencedWriter {
  readonly name: string
  readonly fencer: FencerProcess
  readonly volumes: TestVolumes
  readonly node: TestNode
  readonly item: DesiredItem
  /** The file that the writer writes without pause. */
  readonly file: string
  readonly mountPoint: string
  /** Renews the lease; returns its end. */
  renew(leaseMs: number): Promise<number>
  /** Creates another container in the cgroup of the writer. It writes to a file in the fencer's folder. */
  createLate(): Promise<{ readonly container: Docker.Container; readonly file: string }>
  remove(): Promise<void>
}

export async function startFencedWriter(
  { socketPath, cgroup }: StandaloneDockerEngine,
  image: string,
): Promise<FencedWriter> {
  const [volumes, fencer] = [await startVolumes(), await startFencer()]
  const name = await volumes.add()
  const node = volumes.newNode(socketPath, cgroup)
  const command = ['/bin/sh', '-c', writing('/data/file')]
  const item = desiredItem(image, { command, mounts: [mountOf(name, { type: 'bind' })] })
  const mountPoint = join(volumes.home.folder, 'volumes', name)
  const place = join(freezerRoot() ?? '', cgroup, 'writers', name)
  const renew = async (leaseMs: number): Promise<number> => {
    const leaseEndMs = bootClockMs() + leaseMs
    await fencer.link.renew([groupOf(name, leaseEndMs, [place], { mounts: [mountPoint] })])
    return leaseEndMs
  }
  const file = volumes.at(name, 'file')
  await renew(60_000)
  const agent = await node.start()
  node.send([item])
  const { containerId } = await node.until(item, 'running', isUp)
  await waitUntil(() => writesIn(file).firstMs > 0, { what: 'the writer writes' })
  await agent.close()
  const docker = new Docker({ socketPath })
  const { HostConfig } = await docker.getContainer(containerId ?? '').inspect()
  return {
    name,
    fencer,
    volumes,
    node,
    item,
    file,
    mountPoint,
    renew,
    async createLate() {
      const Binds = [`${fencer.folder}:/out`]
      const host = { CgroupParent: HostConfig.CgroupParent ?? '', Binds, NetworkMode: 'none' }
      const Cmd = ['/bin/sh', '-c', writing('/out/late')]
      const container = await docker.createContainer({ Image: image, Cmd, HostConfig: host })
      return { container, file: join(fencer.folder, 'late') }
    },
    async remove() {
      await node.clear()
      await fencer.remove()
      volumes.home.remove()
    },
  }
}
