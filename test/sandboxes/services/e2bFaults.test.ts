import { e2bService } from "../../helpers/cloud/clouds.ts";
import { testCloudFaults } from "./faults.ts";

testCloudFaults(e2bService);
