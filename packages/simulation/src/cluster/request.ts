// A request that a script step sends to the platform. One live server answers the request, and the story records the
// answer. A request is never repeated; a script that needs a retry has two steps.

import type { NodeId } from '@holdfast/contract'
import { StoreUnavailableError } from '@holdfast/server/store/store'
import type { Step } from '../script/script.ts'
import type { StoryLine } from '../time/trace.ts'
import { newKeys } from './agent-session.ts'
import {
  addJob,
  apply,
  callerIn,
  cancelJobNamed,
  changePolicy,
  changeVolume,
  cordon,
  drain,
  enroll,
  RefusedError,
  release,
  remove,
  setQuotas,
  setRole,
  type VolumeChange,
} from './ask.ts'
import { askCanary, type CanaryStep, isCanaryStep } from './ask-canary.ts'
import { askNetwork, type NetworkStep } from './ask-network.ts'
import type { Server } from './server.ts'
import type { Acknowledged } from './snapshot.ts'
import {
  liveServers,
  record,
  type SimulatedNode,
  startNodeAgent,
  stopNodeAgent,
  type World,
} from './world.ts'

export type RequestStep = Extract<
  Step,
  {
    do:
      | 'apply'
      | 'delete'
      | 'quota'
      | 'cordon'
      | 'uncordon'
      | 'drain'
      | 'node-role'
      | 'node-removed'
      | 're-enroll'
      | 'volume'
      | 'volume-resized'
      | 'volume-replicas'
      | 'replica-added'
      | 'replica-removed'
      | 'volume-deleted'
      | 'job'
      | 'job-cancelled'
      | 'scaling'
      | 'scaling-deleted'
      | CanaryStep['do']
      | NetworkStep['do']
  }
>

interface Asking {
  readonly tenantName: string
  readonly subject: string
  /** The line that the story prints for the request, before the answer. */
  readonly description: string
  readonly action: Acknowledged['action']
  readonly name: string
  /** Sends the request to a server. Returns the new revision if the request changed a deployment, otherwise undefined. */
  ask(server: Server, caller: ReturnType<typeof callerIn>): Promise<number | undefined>
}

export function request(world: World, step: RequestStep, fail: (error: unknown) => void): void {
  const { founded, random, time } = world
  const asking = askingOf(world, step)
  const tenant = world.tenants.get(asking.tenantName)
  if (founded === undefined || tenant === undefined)
    throw new Error(`there is no tenant ${asking.tenantName}`)
  say(world, asking, 'step', 'info', asking.description)
  const live = liveServers(world)
  const server = live[random.below(Math.max(1, live.length))]
  if (server === undefined) {
    say(world, asking, 'answer', 'warning', 'No server answers.')
    return
  }
  time.deliver(server.process, () => {
    asking.ask(server, callerIn(tenant, founded.token)).then(
      (revision) => {
        world.acknowledged.push({ at: time.now, tenant, action: asking.action, name: asking.name, revision })
        const done = revision === undefined ? 'Done.' : `Done: revision ${revision}.`
        say(world, asking, 'answer', 'info', done)
      },
      (error: unknown) => refuse(world, asking, error, fail),
    )
  })
}

function refuse(world: World, asking: Asking, error: unknown, fail: (error: unknown) => void): void {
  if (error instanceof RefusedError) say(world, asking, 'answer', 'warning', `Refused: ${error.message}`)
  else if (error instanceof StoreUnavailableError)
    say(world, asking, 'answer', 'warning', 'Not answered: the store was not reached in time.')
  else fail(error)
}

function say(
  world: World,
  { tenantName, subject }: Asking,
  kind: StoryLine['kind'],
  severity: StoryLine['severity'],
  message: string,
): void {
  record(world, { kind, severity, tenant: tenantName, subject, message })
}

function askingOf(world: World, step: RequestStep): Asking {
  if ('deployment' in step) return askingOfDeployment(step)
  if ('job' in step) return askingOfJob(step)
  if ('volume' in step) return askingOfVolume(world, step)
  if ('network' in step) return askingOfNetwork(world, step)
  if ('node' in step) return askingOfNode(world, step)
  const { tenant: tenantName, kind, limit } = step
  return {
    tenantName,
    subject: `tenant ${tenantName}`,
    action: 'quota',
    name: kind,
    description: `the quota ${kind} is set to ${limit}.`,
    ask: (server, caller) => setQuotas(server, caller, { [kind]: limit }).then(() => undefined),
  }
}

function askingOfDeployment(step: Extract<RequestStep, { deployment: string }>): Asking {
  const { tenant: tenantName, deployment: name } = step
  const common = { tenantName, subject: `deployment ${name}`, name }
  if (isCanaryStep(step)) {
    const { do: action, tenant: _tenant, deployment: _name, at: _at, ...values } = step
    return {
      ...common,
      action: 'apply',
      description: `${action}: ${JSON.stringify(values)}`,
      ask: (server, caller) => askCanary(server, caller, step),
    }
  }
  if (step.do === 'delete')
    return {
      ...common,
      action: 'delete',
      description: 'is deleted.',
      ask: (server, caller) => remove(server, caller, name).then(() => undefined),
    }
  if (step.do === 'scaling' || step.do === 'scaling-deleted') {
    const policy = step.do === 'scaling' ? step.policy : undefined
    return {
      ...common,
      action: 'scaling',
      description: `its scaling policy is ${policy === undefined ? 'deleted' : JSON.stringify(policy)}.`,
      ask: (server, caller) => changePolicy(server, caller, name, policy).then(() => undefined),
    }
  }
  const spec = step.spec ?? {}
  return {
    ...common,
    action: 'apply',
    description: `is applied: ${JSON.stringify(spec)}`,
    ask: (server, caller) => apply(server, caller, name, spec),
  }
}

function askingOfJob(step: Extract<RequestStep, { job: string }>): Asking {
  const { do: action, tenant: tenantName, job: name } = step
  const common = { tenantName, subject: `job ${name}`, name, action }
  if (step.do === 'job-cancelled')
    return {
      ...common,
      description: 'is cancelled.',
      ask: (server, caller) => cancelJobNamed(server, caller, name).then(() => undefined),
    }
  const spec = step.spec ?? {}
  return {
    ...common,
    description: `is created: ${JSON.stringify(spec)}`,
    ask: (server, caller) => addJob(server, caller, name, spec).then(() => undefined),
  }
}

const VOLUME_ACTIONS: { readonly [kind in VolumeChange['kind']]: Acknowledged['action'] } = {
  create: 'volume',
  resize: 'volume-changed',
  scale: 'volume-changed',
  'add-replica': 'volume-changed',
  'remove-replica': 'volume-changed',
  delete: 'volume-deleted',
}

type VolumeStep = Extract<RequestStep, { volume: string }>

function askingOfVolume(world: World, step: VolumeStep): Asking {
  const { tenant: tenantName, volume: name } = step
  const change = volumeChange(world, step)
  const { kind, ...values } = change
  return {
    ...{ tenantName, subject: `volume ${name}`, name, action: VOLUME_ACTIONS[kind] },
    description: `${kind}: ${JSON.stringify(values)}`,
    ask: (server, caller) => changeVolume(server, caller, name, change).then(() => undefined),
  }
}

function volumeChange(world: World, step: VolumeStep): VolumeChange {
  switch (step.do) {
    case 'volume':
      return { kind: 'create', spec: { ...step.spec, ...placeOf(world, step.on) } }
    case 'volume-resized':
      return { kind: 'resize', sizeBytes: step.sizeBytes }
    case 'volume-replicas':
      return { kind: 'scale', replicas: step.replicas }
    case 'volume-deleted':
      return { kind: 'delete' }
    default: {
      const { nodeId } = nodeOf(world, step.node).identity
      return { kind: step.do === 'replica-added' ? 'add-replica' : 'remove-replica', nodeId }
    }
  }
}

function askingOfNetwork(world: World, step: NetworkStep): Asking {
  const { do: action, tenant: tenantName, network: name } = step
  const place = step.do === 'network' ? placeOf(world, step.on) : {}
  const spec = step.do === 'network' ? step.spec : undefined
  return {
    ...{ tenantName, subject: `network ${name}`, name, action },
    description:
      action === 'network' ? `is created: ${JSON.stringify({ ...spec, ...place })}` : 'is deleted.',
    ask: (server, caller) => askNetwork(server, caller, step, place).then(() => undefined),
  }
}

const placeOf = (world: World, on: string | undefined): { nodeId?: NodeId } =>
  on === undefined ? {} : { nodeId: nodeOf(world, on).identity.nodeId }

function nodeOf(world: World, name: string): SimulatedNode {
  const node = world.nodes.get(name)
  if (node === undefined) throw new Error(`the script has no node ${name}`)
  return node
}

type NodeStep = Exclude<Extract<RequestStep, { node: string }>, VolumeStep>

function askingOfNode(world: World, step: NodeStep): Asking {
  const node = nodeOf(world, step.node)
  const [tenantName = ''] = [...world.tenants].find(([, id]) => id === node.tenant) ?? []
  const common = { tenantName, subject: `node ${step.node}`, name: step.node }
  const { nodeId } = node.identity
  switch (step.do) {
    case 're-enroll':
      return {
        ...common,
        action: 'enroll',
        description: 'is reinstalled and joins again.',
        ask: (server, caller) => reenroll(world, node, step.attested ?? {}, server, caller),
      }
    case 'drain':
      return {
        ...common,
        action: 'drain',
        description: 'is drained.',
        ask: (server, caller) => drain(server, caller, nodeId).then(() => undefined),
      }
    case 'node-role':
      return {
        ...{
          ...common,
          action: 'role',
          description: `is ${step.controlPlane ? '' : 'not '}the control plane’s.`,
        },
        ask: (server, caller) => setRole(server, caller, nodeId, step.controlPlane).then(() => undefined),
      }
    case 'node-removed':
      return {
        ...{
          ...common,
          action: 'remove',
          description: `is removed${step.force === true ? ' by force' : ''}.`,
        },
        ask: (server, caller) => release(server, caller, nodeId, step.force ?? false).then(() => undefined),
      }
    default: {
      const open = step.do === 'uncordon'
      return {
        ...common,
        action: step.do,
        description: open ? 'takes work again.' : 'takes no more work.',
        ask: (server, caller) => cordon(server, caller, nodeId, open).then(() => undefined),
      }
    }
  }
}

/** Enrolls a machine again, which replaces the machine's keys; its containers keep running. */
async function reenroll(
  world: World,
  node: SimulatedNode,
  attested: { readonly country?: string; readonly region?: string },
  server: Server,
  caller: ReturnType<typeof callerIn>,
): Promise<undefined> {
  const { machine } = node
  if (!machine.powered || !machine.connected)
    throw new RefusedError('the machine is off or without a network')
  const keys = newKeys(world.random)
  const { nodeId, generation } = await enroll(server, caller, { machine, keys, attested })
  node.identity = { ...keys, nodeId, generation }
  if (!machine.powered) return
  stopNodeAgent(node)
  startNodeAgent(world, node)
}
