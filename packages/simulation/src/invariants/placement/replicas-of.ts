// How many replicas does a deployment desire? This is a second implementation, independent of the controller's.

import type { StoredDeployment } from '@holdfast/server/store/records'

export const replicasOf = ({ spec, scaling }: Pick<StoredDeployment, 'spec' | 'scaling'>): number =>
  spec.replicas === 0 || scaling === undefined ? spec.replicas : scaling.desired
