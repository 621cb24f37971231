// For tests: an engine of each line with a registry beside it, nodes on it, and all of it gone at the end.

import {
  type DockerLine,
  type StandaloneDockerEngine,
  startDockerEngine,
  startRegistry,
} from '@holdfast/testkit'
import { afterAll, beforeAll, describe } from 'vitest'
import { createTestNode, type TestNode } from './agent.fixture.ts'
import type { Agent } from './agent.ts'
import type { Engine } from './ports/engine.ts'

const LINES: readonly DockerLine[] = ['old', 'new']

export interface RealWorld {
  readonly docker: StandaloneDockerEngine
  readonly registry: Awaited<ReturnType<typeof startRegistry>>
  /** A web server, by digest. */
  readonly image: string
  /** A node of a tenant of its own, with a running agent. */
  newNode(over?: (engine: Engine) => Engine): Promise<{ node: TestNode; agent: Agent }>
}

/** The same tests on both lines. */
export function onBothEngines(
  about: string,
  tests: (world: () => RealWorld, line: DockerLine) => void,
): void {
  describe.each(LINES)(`${about}, %s engine`, (line) => {
    let world: RealWorld | undefined
    const agents: Agent[] = []
    beforeAll(async () => {
      const docker = await startDockerEngine({ line })
      const registry = await startRegistry({ address: docker.hostAddress })
      const { digest } = await registry.pushBusyboxImage('test/web', '1')
      world = {
        docker,
        registry,
        image: `${registry.host}/test/web@${digest}`,
        async newNode(over = (engine) => engine) {
          const node = createTestNode(docker.socketPath)
          const agent = await node.start(over(node.engine))
          agents.push(agent)
          return { node, agent }
        },
      }
    })
    afterAll(async () => {
      await Promise.all(agents.map((agent) => agent.close()))
      await world?.docker.stop()
      await world?.registry.stop()
    })
    tests(() => {
      if (world === undefined) throw new Error('The engine is not up.')
      return world
    }, line)
  })
}
