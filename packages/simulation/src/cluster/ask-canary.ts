// Requests that start and end canaries, and those that supersede one beside an update: a restart and a rollback. Each returns
// the revision that is current afterwards.

import type { Json } from '@holdfast/contract'
import type { Caller } from '@holdfast/server/operations/caller'
import { abortDeploymentCanary } from '@holdfast/server/operations/deployments/canary/abort-canary'
import { promoteCanary } from '@holdfast/server/operations/deployments/canary/promote-canary'
import { startCanary } from '@holdfast/server/operations/deployments/canary/start-canary'
import { restartDeployment } from '@holdfast/server/operations/deployments/write/restart-deployment'
import { rollBackDeployment } from '@holdfast/server/operations/deployments/write/rollback-deployment'
import type { Written } from '@holdfast/server/operations/deployments/write/written'
import { deployments } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import type { Step } from '../script/script.ts'
import { once, required } from './ask.ts'
import type { Server } from './server.ts'

const ACTIONS = ['canary', 'canary-promoted', 'canary-aborted', 'restart', 'rollback'] as const

export type CanaryStep = Extract<Step, { do: (typeof ACTIONS)[number] }>

export const isCanaryStep = (step: Step): step is CanaryStep => ACTIONS.some((each) => each === step.do)

/** Simulated deployments have no routes, so the weight has no effect. */
const WEIGHT = 10

export async function askCanary(
  { operations, store }: Pick<Server, 'operations' | 'store'>,
  caller: Caller,
  step: CanaryStep,
): Promise<number> {
  const { deployment: name } = step
  const options = { ifMatch: undefined, ...once<Written>() }
  const current = store.get(inTenant(caller.tenant, deployments, name))?.record.revision ?? 1
  const ask = () => {
    switch (step.do) {
      case 'canary':
        return startCanary(operations, caller, name, bodyOf(step), options)
      case 'canary-promoted':
        return promoteCanary(operations, caller, name, { force: step.force ?? false }, options)
      case 'canary-aborted':
        return abortDeploymentCanary(operations, caller, name, options)
      case 'restart':
        return restartDeployment(operations, caller, name, options)
      case 'rollback':
        return rollBackDeployment(operations, caller, name, { revision: Math.max(1, current - 1) }, options)
    }
  }
  return required(await ask()).deployment.revision
}

function bodyOf({ change, replicas, observe }: Extract<CanaryStep, { do: 'canary' }>): Json {
  const body: Json = JSON.parse(JSON.stringify({ change, replicas, observe, weight: WEIGHT }))
  return body
}
