// Which data is where: for each deployment what it demands, and where its replicas and the copies of its volumes are.

import { residencyDemandShape } from '../api/residency.ts'
import type { DeploymentUid, NodeId, VolumeId } from '../ids.ts'
import {
  boolean,
  branded,
  described,
  type Infer,
  integer,
  list,
  nullable,
  object,
  string,
} from '../shapes/shape.ts'

const place = {
  nodeId: branded<NodeId>(),
  node: described('Name of the node', string()),
  country: described('The country of the node; null if the node states none', nullable(string())),
  region: described('The region of the node; null if the node states none', nullable(string())),
  attested: described('Whether the join token of the node confirms the country', boolean()),
  holds: described('Whether the place meets the demand; always true without one', boolean()),
}

/** An item of GET /residency. */
export const residencyEntryShape = object({
  deployment: string(),
  uid: branded<DeploymentUid>(),
  demand: described('Empty if the deployment demands nothing', residencyDemandShape),
  holds: described('Whether every replica and every copy meets the demand', boolean()),
  replicas: list(object({ replica: integer(), ...place })),
  copies: list(
    object({
      volume: string(),
      volumeId: branded<VolumeId>(),
      role: described('primary or replica', string()),
      ...place,
    }),
  ),
})
export type ResidencyEntry = Infer<typeof residencyEntryShape>
