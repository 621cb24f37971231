// All rules on a deployment body: first those on one field, then those across fields and on configuration. Rejections
// are ordered by field, then by stage, then by this list (docs/design/admission.md#order).

import type { CrossRule } from './rule-engine/cross-rule.ts'
import type { Rule } from './rule-engine/rule.ts'
import { composedEnvironmentRules } from './rules/composed-environment.ts'
import { configurationRules } from './rules/configuration.ts'
import { crossFieldRules } from './rules/cross-field.ts'
import { dependsOnRules } from './rules/depends-on.ts'
import { durationsRules } from './rules/durations.ts'
import { environmentRules } from './rules/environment.ts'
import { healthCheckRules } from './rules/health-check.ts'
import { imageRules } from './rules/image.ts'
import { labelsRules } from './rules/labels.ts'
import { listLengthsRules } from './rules/list-lengths.ts'
import { nameRules } from './rules/name.ts'
import { placementRules } from './rules/placement.ts'
import { replicasRules } from './rules/replicas.ts'
import { residencyConfigurationRules, residencyCrossRules, residencyRules } from './rules/residency.ts'
import { resourcesRules } from './rules/resources.ts'
import { routesRules } from './rules/routes.ts'
import { secretDocumentsRules } from './rules/secret-documents.ts'
import { secretEntriesRules } from './rules/secret-entries.ts'
import { composedListsRules, secretListsRules } from './rules/secret-lists.ts'
import { secretMaterialRules } from './rules/secret-material.ts'
import { secretsVersionRules } from './rules/secrets-version.ts'
import { textContentRules } from './rules/text-content.ts'
import { updateRules } from './rules/update.ts'
import { constantConflictsRules, templateConflictsRules } from './rules/variable-conflicts.ts'
import { volumesRules } from './rules/volumes.ts'

export const FIELD_RULES: readonly Rule[] = [
  ...listLengthsRules,
  ...nameRules,
  ...imageRules,
  ...replicasRules,
  ...healthCheckRules,
  ...environmentRules,
  ...secretEntriesRules,
  ...secretMaterialRules('secrets[*].'),
  ...secretsVersionRules,
  ...volumesRules,
  ...placementRules,
  ...residencyRules,
  ...dependsOnRules,
  ...resourcesRules,
  ...composedEnvironmentRules,
  ...updateRules,
  ...routesRules,
  ...labelsRules,
  ...textContentRules,
  ...durationsRules,
]

export const CROSS_RULES: readonly CrossRule[] = [
  ...secretListsRules,
  ...secretDocumentsRules,
  ...constantConflictsRules,
  ...crossFieldRules,
  ...residencyCrossRules,
  ...composedListsRules,
  ...templateConflictsRules,
  ...configurationRules,
  ...residencyConfigurationRules,
]
