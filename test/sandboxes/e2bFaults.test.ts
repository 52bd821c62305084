import { e2bService } from "../helpers/cloud/clouds.ts";
import { testCloudFaults } from "./cloudFaults.ts";

testCloudFaults(e2bService);
